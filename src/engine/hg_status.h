/*-------------------------------------------------------------------------
 *
 * hg_status.h
 *	  Status codes and error descriptions of engine calls.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_STATUS_H
#define HG_STATUS_H

#ifdef __cplusplus
extern "C"
{
#endif

	typedef enum HgStatus
	{
		HG_OK = 0,
		HG_INVALID,				 /* the caller broke the contract or a limit */
		HG_OUT_OF_MEMORY,		 /* host memory refused; without a device also: over memory_limit */
		HG_DEVICE_OUT_OF_MEMORY, /* device memory refused, over the device's budget or over
								  * memory_limit: a smaller job may work */
		HG_TOO_MANY_ROWS,		 /* a side would pass HG_MAX_ROWS */
		HG_CANCELLED,			 /* host->cancelled() returned true */
		HG_UNAVAILABLE,			 /* no device, no driver, not ready yet */
		HG_EVICTED, /* the job was idle and others waited for its device memory: a new job may work
					 */
		HG_NO_REPLICA, /* no replica of that name, or not any more: sending keys may work */
		HG_NOT_UNIQUE, /* a row would find several rows in a lookup that allows one: a plain join
						* may work */
		HG_BAD_PAGE,   /* a page of a table is damaged: the caller may read its rows itself */
		HG_OVERFLOW,   /* a number computed of a row overflows: the caller decides whether that row
						* matters */
		HG_DEVICE_FAILED,  /* a call to the device's driver failed */
		HG_CONNECTION_LOST /* the device process is gone */
	} HgStatus;

	/* An error description for people: message has no newline, detail may be "". */
	typedef struct HgError
	{
		HgStatus status;
		char message[160];
		char detail[240];
	} HgError;

	/* Fills *error (if not NULL) printf-like and returns status; detail may be NULL. */
	extern HgStatus hg_error_set(HgError *error, HgStatus status, const char *detail,
								 const char *format, ...)
#if defined(__GNUC__)
		__attribute__((format(printf, 4, 5)))
#endif
		;

#ifdef __cplusplus
}
#endif

#endif /* HG_STATUS_H */
