/*-------------------------------------------------------------------------
 *
 * hg_page_layout.c
 *	  Checks, at compile time, what engines know of heap pages without PostgreSQL's headers
 *	  (engine/hg_pages_parse.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#ifndef WORDS_BIGENDIAN

#include "access/htup_details.h"
#include "storage/bufpage.h"

#include "../engine/hg_pages_parse.h"
#include "../hg_compat.h"

/* pages */
StaticAssertDecl(SizeOfPageHeaderData == HG_PAGES_HEADER, "header of a page");
StaticAssertDecl(offsetof(PageHeaderData, pd_lower) == HG_PAGE_LOWER, "pd_lower");
StaticAssertDecl(offsetof(PageHeaderData, pd_upper) == HG_PAGE_UPPER, "pd_upper");
StaticAssertDecl(offsetof(PageHeaderData, pd_special) == HG_PAGE_SPECIAL, "pd_special");
StaticAssertDecl(offsetof(PageHeaderData, pd_pagesize_version) == HG_PAGE_SIZE_VERSION,
				 "pd_pagesize_version");
StaticAssertDecl(PG_PAGE_LAYOUT_VERSION == HG_PAGE_VERSION, "version of pages");
StaticAssertDecl(BLCKSZ >= HG_PAGES_LEAST_SIZE && BLCKSZ <= HG_PAGES_MOST_SIZE, "size of a page");
StaticAssertDecl(MaxHeapTuplesPerPage == HG_PAGES_MOST_LINES(BLCKSZ), "line pointers of a page");

/* line pointers */
StaticAssertDecl(sizeof(ItemIdData) == HG_PAGES_LINE, "line pointer");
StaticAssertDecl(LP_NORMAL == HG_PAGE_LINE_NORMAL, "LP_NORMAL");

/* rows */
StaticAssertDecl(MAXIMUM_ALIGNOF == HG_PAGES_ROW_ALIGN, "alignment of a row");
StaticAssertDecl(SizeofHeapTupleHeader == HG_PAGES_ROW_HEADER, "header of a row");
StaticAssertDecl(offsetof(HeapTupleHeaderData, t_infomask2) == HG_ROW_INFOMASK2, "t_infomask2");
StaticAssertDecl(offsetof(HeapTupleHeaderData, t_infomask) == HG_ROW_INFOMASK, "t_infomask");
StaticAssertDecl(offsetof(HeapTupleHeaderData, t_hoff) == HG_ROW_HOFF, "t_hoff");
StaticAssertDecl(offsetof(HeapTupleHeaderData, t_bits) == HG_ROW_BITMAP, "t_bits");
StaticAssertDecl(HEAP_NATTS_MASK == HG_ROW_NATTS_MASK, "HEAP_NATTS_MASK");
StaticAssertDecl(HEAP_HASNULL == HG_ROW_HAS_NULL, "HEAP_HASNULL");

/* varlenas */
StaticAssertDecl(VARTAG_ONDISK == HG_VARLENA_ON_DISK, "VARTAG_ONDISK");
StaticAssertDecl(VARHDRSZ_EXTERNAL + sizeof(varatt_external) == HG_VARLENA_ON_DISK_BYTES,
				 "what is in a page of a varlena that is not");
StaticAssertDecl(VARHDRSZ == HG_VARLENA_HEADER, "VARHDRSZ");
StaticAssertDecl(offsetof(varattrib_4b, va_compressed.va_data) == HG_VARLENA_COMPRESSED_HEADER,
				 "header of a compressed varlena");

#endif
