/*-------------------------------------------------------------------------
 *
 * hg_standin_wait.c
 *	  Waits of a device process without a device, which it is told to make.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE /* usleep */

#include "hg_standin_wait.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* Milliseconds that others are waited for. */
#define OTHERS_MS 30000

/* What is waited for: the end of a file, or its size. */
typedef struct Awaited
{
	const char *gone; /* NULL, or the file that is to be removed */
	int file;		  /* else the file ... */
	off_t size;		  /* ... that is to have so many bytes */
} Awaited;

static bool
has_come(const Awaited *awaited)
{
	if (awaited->gone != NULL)
		return access(awaited->gone, F_OK) != 0;
	return lseek(awaited->file, 0, SEEK_END) >= awaited->size;
}

/* Sleep for a millisecond. */
static HgStatus
sleep_once(const HgHost *host, HgError *error)
{
	if (host->cancelled(host->arg))
		return hg_error_set(error, HG_CANCELLED, NULL, "the join was cancelled");
	usleep(1000);
	return HG_OK;
}

static HgStatus
wait_for(const HgHost *host, const Awaited *awaited, HgError *error)
{
	HgStatus status = HG_OK;

	for (long left = OTHERS_MS; status == HG_OK && !has_come(awaited); left--)
		status = left > 0 ? sleep_once(host, error)
						  : hg_error_set(error, HG_DEVICE_FAILED, NULL, "the others did not come");
	return status;
}

void
hg_standin_hold(const char *file)
{
	int held = file != NULL ? open(file, O_WRONLY | O_APPEND) : -1;

	if (held >= 0 && write(held, "", 1) != 1)
		abort();
	if (held >= 0)
		close(held);
	while (file != NULL && access(file, F_OK) == 0)
		usleep(1000);
}

HgStatus
hg_standin_wait(const HgHost *host, long ms, HgError *error)
{
	HgStatus status = HG_OK;

	for (long left = ms; status == HG_OK && left > 0; left--)
		status = sleep_once(host, error);
	return status;
}

HgStatus
hg_standin_wait_while(const HgHost *host, const char *file, HgError *error)
{
	return file != NULL ? wait_for(host, &(Awaited){.gone = file}, error) : HG_OK;
}

HgStatus
hg_standin_meet(const HgHost *host, const char *meeting, HgError *error)
{
	Awaited awaited = {0};
	HgStatus status;
	char *end;
	long count;
	off_t position;

	if (meeting == NULL)
		return HG_OK;
	count = strtol(meeting, &end, 10);
	awaited.file = open(end + 1, O_WRONLY | O_APPEND);
	/* each caller adds a byte, whose place is that of the caller among all */
	if (awaited.file < 0 || write(awaited.file, "", 1) != 1)
		abort();
	position = lseek(awaited.file, 0, SEEK_CUR);
	awaited.size = (position + count - 1) / count * count;
	status = wait_for(host, &awaited, error);
	close(awaited.file);
	return status;
}
