/*-------------------------------------------------------------------------
 *
 * hg_loader_encode.h
 *	  Rows of a table's pages to the arrays of a segment version.
 *
 * What the arrays of a column are is decided on column by column (hg_loader_column.h).
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

/* May a column be resident?  HG_REASON_NONE if so. */
extern HgResidentReason hg_encode_may_take_in(Form_pg_attribute attribute);

typedef struct HgEncoder HgEncoder;

/* For the rows of a segment, in a memory context of its own below the current one. */
extern HgEncoder *hg_encoder_begin(Relation rel, uint32 segment, const HgResidentColumn *columns,
								   int ncolumns);

/*
 * Take the rows of a block, which come in ascending order; those without rows, or not taken, need
 * not come.
 */
extern void hg_encoder_add_page(HgEncoder *encoder, BlockNumber block, HgCapturedPage *page);

/* Bytes that the arrays of a fixed width take by now, which nothing makes less. */
extern Size hg_encoder_fixed_bytes(const HgEncoder *encoder);

/* All of it, as long as the encoder is there; no page comes after this. */
extern const HgSegmentData *hg_encoder_finish(HgEncoder *encoder, const HgCapture *capture);

extern void hg_encoder_end(HgEncoder *encoder);

#endif /* HG_LOADER_ENCODE_H */
