/*-------------------------------------------------------------------------
 *
 * hg_input_pages.c
 *	  An input whose rows a device takes out of the pages of its table.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "batch/hg_input_pages.h"

/* Returns true if a device can find the key of a row: a strict integer column as it is stored. */
static bool
hg_input_has_key_in_pages(const HgInput *input)
{
	const HgKeyEncoder *encoder = input->keys.encoder;

	return input->keys.exprs == NULL && hg_key_is_integer(encoder, input->side) &&
		   encoder->parts[0].image[input->side] != HG_IMAGE_INT8 && encoder->parts[0].strict;
}

bool
hg_input_init_page_source(HgInput *input, bool parallel, int ncolumns, const int *columns,
						  HgPageSource *page_source)
{
	int wanted[1 + HG_MAX_COLUMNS];

	Assert(ncolumns <= HG_MAX_COLUMNS);
	if (input->child->init_page_source == NULL || input->at_end || input->source != NULL ||
		input->filter != NULL || input->covered != NULL || hg_input_rows(input) > 0 ||
		input->keep_null_keys || !hg_input_has_key_in_pages(input))
		return false;
	wanted[0] = input->keys.columns[0];
	for (int i = 0; i < ncolumns; i++)
		wanted[1 + i] = columns[i];
	return input->child->init_page_source(input->child, parallel, 1 + ncolumns, wanted,
										  page_source);
}

void
hg_input_end_pages(HgInput *input, HgPageSource *page_source)
{
	hg_page_source_count(page_source);
	hg_progress_step(input->progress, HG_PROGRESS_STEP_ROWS);
}

void
hg_input_report_pages(HgInput *input, HgPageSource *page_source, uint64 uploaded_rows, uint64 rows,
					  uint64 null_keys)
{
	hg_page_source_report(page_source, uploaded_rows, rows + null_keys);
	input->rows_read += rows + null_keys;
	input->null_keys += null_keys;
}
