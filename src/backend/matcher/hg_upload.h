/*-------------------------------------------------------------------------
 *
 * hg_upload.h
 *	  Asynchronous upload: gives a device the keys of a join while its sides are still being read.
 *
 * An upload opens a device job when its process begins to read. It hands keys over whenever there
 * is room, without ever waiting. The keys also stay in this process. If the job fails, it is
 * closed, and the join continues as if there had been none.
 *
 * A device's resources for such a job are unavailable to others. An upload is therefore only for
 * sides that are read in one go, without a query or user function in between (the caller ensures
 * that), and expected to be read in seconds. An upload that takes longer closes its job.
 *
 * An upload's resources are freed by hg_upload_destroy, by the reset of the memory context that it
 * was created in, or by the release of the resource owner that was current then, whichever comes
 * first.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_UPLOAD_H
#define HG_UPLOAD_H

#include "backend/matcher/hg_matcher_spec.h"

typedef struct HgUploadSpec
{
	uint32 key_width;
	uint64 expected_rows[2]; /* by HgSide, of all processes */
	double pairs;			 /* expected matches that are returned, of all processes */
	uint64 match_bytes;		 /* bytes in which several processes may store these */
	double scan_cost;		 /* PostgreSQL's Cost of reading both sides in one process */
	bool streams;			 /* the CPU could join outer rows as they are read instead */

	/*
	 * NULL, or the reduction whose columns the job has; they are sent when all rows are there. The
	 * caller keeps it until the upload is destroyed.
	 */
	const HgReduction *reduction;

	/*
	 * By HgSide: NULL, or columns whose values come with the matches (HgMatcherSpec), sent at the
	 * same time. hg_upload_is_worthwhile chooses among them.
	 */
	const HgColumnSet *columns[2];
	int processes;			/* that would share the CPU's work */
	bool parallel;			/* as in HgMatcherSpec */
	uint64 participants_id; /* HgJobSpec.participants_id; 0: this process's own job */
	int device_no;			/* device of the shared job; ignored without participants_id */
} HgUploadSpec;

/*
 * Returns true if estimates say that an upload saves time without delaying other sessions. Stores
 * in *columns which columns of spec it would send; the caller removes the others from spec.
 */
extern bool hg_upload_is_worthwhile(const HgUploadSpec *spec, HgJobColumns *columns);

/* Creates an upload in CurrentMemoryContext. Asks for its job if a device is ready, else later. */
extern HgUpload *hg_upload_create(const HgUploadSpec *spec);

/*
 * Hands over the new keys of a side, as many as there is room for. Only the last piece and pieces
 * after it may have changed since the last call. Never waits; a failure only closes the job.
 */
extern void hg_upload_send(HgUpload *upload, HgSide side, const HgKeySet *keys);

/* Returns true if the device, as far as is known, has admitted the job and it has not failed. */
extern bool hg_upload_is_admitted(const HgUpload *upload);

/* Returns the device number of the upload's job, admitted or not; -1 without a job. */
extern int hg_upload_device_no(const HgUpload *upload);

/* Returns true if the upload's spec has a reduction, whose columns the job gets. */
extern bool hg_upload_reduces(const HgUpload *upload);

/* Returns the columns of a side whose values come with the matches of its job, or NULL. */
extern const HgColumnSet *hg_upload_columns(const HgUpload *upload, HgSide side);

/*
 * Called when all keys are there: sends the remaining keys and the columns, and waits with host
 * until the device has them. After HG_OK nothing more can be sent, and further calls return HG_OK.
 * Any other status fills *error and closes the job; HG_UNAVAILABLE if there was no job.
 */
extern HgStatus hg_upload_finish(HgUpload *upload, HgPgHost *host, const HgKeySet sides[2],
								 HgError *error);

/* Returns true if the upload has not tried to open a job so far. */
extern bool hg_upload_is_unused(const HgUpload *upload);

/* Returns the job of a finished upload, which the caller closes; the job uses host from now on. */
extern HgJob *hg_upload_take_job(HgUpload *upload, const HgHost *host);

/*
 * Hands the job of a finished upload, which was opened for *spec, to an engine with partition
 * passes: *job becomes that engine's job around it (hg_passes_adopt). The caller then calls
 * hg_passes_note for all keys. On failure closes the upload's job.
 */
extern HgStatus hg_upload_hand_over(HgUpload *upload, HgEngine *passes, const HgHost *host,
									const HgJobSpec *spec, HgJob **job, HgError *error);

/* Closes the job unless it was taken; nothing is sent any more. */
extern void hg_upload_cancel(HgUpload *upload);

/* Returns how many keys of both sides were sent before hg_upload_finish; 0 until that call. */
extern uint64 hg_upload_rows(const HgUpload *upload);

/* Closes the job unless it was taken, and frees the upload. */
extern void hg_upload_destroy(HgUpload *upload);

#endif /* HG_UPLOAD_H */
