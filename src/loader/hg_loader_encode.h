/*-------------------------------------------------------------------------
 *
 * hg_loader_encode.h
 *	  Makes the arrays of a segment version from copies of the table's pages.
 *
 * hg_loader_column.h makes the arrays of each column.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOADER_ENCODE_H
#define HG_LOADER_ENCODE_H

#include "hg_compat.h"

#include "resident/hg_resident_capture.h"
#include "resident/hg_resident_version.h"

/* Returns HG_REASON_NONE if a column may be cached, or else why it may not. */
extern HgResidentReason hg_encode_may_take_in(Form_pg_attribute attribute);

typedef struct HgEncoder HgEncoder;

/* Creates an encoder for the rows of a segment, in a memory context below the current one. */
extern HgEncoder *hg_encoder_begin(Relation rel, uint32 segment, const HgResidentColumn *columns,
								   int ncolumns);

/* Adds the rows of a block; blocks ascend.  A block that is not added has no rows. */
extern void hg_encoder_add_page(HgEncoder *encoder, BlockNumber block, HgCapturedPage *page);

/*
 * Returns the bytes that the columns of fixed width take so far: a lower bound of the finished
 * arrays.
 */
extern Size hg_encoder_fixed_bytes(const HgEncoder *encoder);

/*
 * Returns the data of a new version.  It belongs to the encoder.  No page can be added afterwards.
 */
extern const HgSegmentData *hg_encoder_finish(HgEncoder *encoder, const HgCapture *capture);

/* Frees the encoder. */
extern void hg_encoder_end(HgEncoder *encoder);

#endif /* HG_LOADER_ENCODE_H */
