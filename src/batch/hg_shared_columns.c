/*-------------------------------------------------------------------------
 *
 * hg_shared_columns.c
 *	  Shared memory for one side's column chunks, which several processes fill and read.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"

#include "batch/hg_column_store.h"

void
hg_shared_columns_init(HgSharedColumns *shared)
{
	SpinLockInit(&shared->mutex);
	shared->chunks = 0;
	shared->pieces = InvalidDsaPointer;
}

HgSharedPiece *
hg_shared_columns_add(HgSharedColumns *shared, dsa_area *area, Size bytes, uint32 nchunks,
					  dsa_pointer *pointer)
{
	HgSharedPiece *piece;

	*pointer = dsa_allocate_extended(area, HG_SHARED_PIECE_HEAD + bytes,
									 DSA_ALLOC_HUGE | DSA_ALLOC_NO_OOM);
	if (!DsaPointerIsValid(*pointer))
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of shared memory"),
						errdetail("Failed to allocate %zu bytes for the columns of a join.", bytes),
						errhint("Lower work_mem or max_parallel_workers_per_gather.")));
	piece = dsa_get_address(area, *pointer);
	piece->nchunks = nchunks;
	piece->rows = 0;
	piece->has_nulls = false;
	SpinLockAcquire(&shared->mutex);
	piece->first_chunk = shared->chunks;
	shared->chunks += nchunks;
	piece->next = shared->pieces;
	shared->pieces = *pointer;
	SpinLockRelease(&shared->mutex);
	return piece;
}

void
hg_shared_columns_release(HgSharedColumns *shared, dsa_area *area)
{
	while (DsaPointerIsValid(shared->pieces))
	{
		HgSharedPiece *piece = dsa_get_address(area, shared->pieces);
		dsa_pointer next = piece->next;

		CHECK_FOR_INTERRUPTS();
		dsa_free(area, shared->pieces);
		shared->pieces = next;
	}
	shared->chunks = 0;
}
