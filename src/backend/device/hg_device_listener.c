/*-------------------------------------------------------------------------
 *
 * hg_device_listener.c
 *	  Sockets, start and end of a device process of the server, to which sessions connect.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "storage/fd.h"

#include "backend/device/hg_device_listener.h"
#include "backend/device/hg_device_shared.h"

/* Connections that may wait to be accepted. */
#define HG_DEVICE_BACKLOG 1024

/* Returns a socket that listens on a device's address; -1 with errno set on failure. */
static int
hg_device_listener_open(int device_no)
{
	struct sockaddr_un address;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int failure;
	mode_t mask;

	if (fd < 0)
		return -1;
	hg_device_address(device_no, &address);
	/* left behind by a worker that could not clean up */
	unlink(address.sun_path);
	mask = umask(S_IXUSR | S_IRWXG | S_IRWXO);
	failure = bind(fd, (struct sockaddr *) &address, sizeof(address)) != 0 ? errno : 0;
	umask(mask);
	if (failure == 0 && listen(fd, HG_DEVICE_BACKLOG) != 0)
		failure = errno;
	if (failure == 0)
		return fd;
	close(fd);
	errno = failure;
	return -1;
}

int
hg_device_listener_start(int device_no, const HgDeviceLaunch *launch, HgWireClient **client,
						 pid_t *pid)
{
	int sockets[2];
	int listening;
	bool spawned;
	int rc;

	*client = NULL;
	*pid = 0;
	if (!AcquireExternalFD())
		return EMFILE;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
	{
		rc = errno;
		ReleaseExternalFD();
		return rc;
	}
	listening = hg_device_listener_open(device_no);
	rc = listening < 0 ? errno : hg_device_spawn(launch, listening, sockets[1], pid);
	/* so that connections to a process that is gone are refused */
	if (listening >= 0)
		close(listening);
	close(sockets[1]);
	spawned = rc == 0;
	if (spawned)
	{
		if (fcntl(sockets[0], F_SETFL, O_NONBLOCK) == 0)
			*client = hg_wire_client_create(sockets[0]);
		if (*client != NULL)
			return 0;
		rc = ENOMEM;
	}
	close(sockets[0]);
	ReleaseExternalFD();
	if (spawned)
		hg_device_reap(*pid, HG_DEVICE_LISTENER_GRACE_MS);
	*pid = 0;
	return rc;
}

void
hg_device_listener_close(int device_no, HgWireClient *client)
{
	struct sockaddr_un address;

	hg_device_address(device_no, &address);
	unlink(address.sun_path);
	hg_wire_client_destroy(client);
	ReleaseExternalFD();
}
