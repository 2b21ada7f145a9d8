/*-------------------------------------------------------------------------
 *
 * hg_status.h
 *	  What a call of an engine returns, and what it says went wrong.
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
		HG_OUT_OF_MEMORY,		 /* host memory refused; without a device also: over
								  * memory_limit */
		HG_DEVICE_OUT_OF_MEMORY, /* device memory refused, over the device's budget
								  * or over memory_limit: a smaller job may do */
		HG_TOO_MANY_ROWS,		 /* a side would pass HG_MAX_ROWS */
		HG_CANCELLED,			 /* host->cancelled() said so */
		HG_UNAVAILABLE,			 /* no device, no driver, not ready yet */
		HG_EVICTED,				 /* the job was idle, and others waited for its device memory: a
								  * new job may do */
		HG_NO_REPLICA,			 /* there is no replica of that name, or not any more: keys may
								  * do */
		HG_NOT_UNIQUE,			 /* a row would find more than one where it may find one: what
								  * looks for no more than one is not the way to join them */
		HG_BAD_PAGE,			 /* a page of a table makes no sense: rows that its reader takes out
								  * of it himself may do */
		HG_OVERFLOW,			 /* a number does not fit that would be computed of a row: it is
								  * for the caller to see whether that row matters */
		HG_DEVICE_FAILED,		 /* a call to the device's driver failed */
		HG_CONNECTION_LOST		 /* the device process is gone */
	} HgStatus;

	/* What went wrong, for a human: message without newline, detail may be "". */
	typedef struct HgError
	{
		HgStatus status;
		char message[160];
		char detail[240];
	} HgError;

	/* Fill *error (if not NULL) printf-like and return status. */
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
