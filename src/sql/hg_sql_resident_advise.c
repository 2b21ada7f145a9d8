/*-------------------------------------------------------------------------
 *
 * hg_sql_resident_advise.c
 *	  hashgraph_resident_advise(): what taking a table's columns in would need.
 *
 * An estimate, as the planner makes it, of rows; what each of them takes is known of a type of
 * fixed width, and else what ANALYZE has found, or the planner takes for granted.  What ANALYZE has
 * found tells of rows: who may not see all of them is not told (pg_stats hides it as well).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/relation.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_statistic.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "optimizer/plancat.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"

#include "batch/hg_graph_key.h"
#include "loader/hg_loader_encode.h"
#include "resident/hg_resident_graph_version.h"
#include "resident/hg_resident_report.h"
#include "resident/hg_resident_validity.h"
#include "resident/hg_resident_version.h"
#include "sql/hg_sql_relation.h"
#include "sql/hg_sql_row.h"

PG_FUNCTION_INFO_V1(hashgraph_resident_advise);

/* Numbers of the columns of hashgraph_resident_advise(). */
typedef enum HgAdviseColumn
{
	ADVISE_COLUMN = 0,
	ADVISE_TYPE,
	ADVISE_REASON,
	ADVISE_HOST_BYTES,
	ADVISE_GRAPH_BYTES,
	ADVISE_COLUMNS
} HgAdviseColumn;

/* How large a table is, or all partitions of one. */
typedef struct HgAdviseSize
{
	int natts;		/* of the table that was asked for */
	bool sees_rows; /* the user may see all rows of that */
	BlockNumber blocks;
	double *bytes;		 /* [natts] */
	double *graph_bytes; /* [natts] of its HashGraph */
} HgAdviseSize;

/* What is known of the values of a table's column. */
typedef struct HgAdviseValues
{
	double width;	 /* of one that is not NULL */
	double present;	 /* the part of the rows that have such a one */
	double distinct; /* how many differ; 0: nobody knows */
} HgAdviseValues;

/* May the user see all rows of a table, as far as policies go? */
static bool
hg_advise_sees_rows(Relation rel)
{
	return check_enable_rls(RelationGetRelid(rel), InvalidOid, true) != RLS_ENABLED;
}

static HgAdviseValues
hg_advise_values(Relation rel, bool sees_rows, Form_pg_attribute attribute, double rows)
{
	HgAdviseValues values = {.present = 1};
	HeapTuple tuple = NULL;

	if (sees_rows)
		tuple = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(RelationGetRelid(rel)),
								Int16GetDatum(attribute->attnum), BoolGetDatum(false));
	if (HeapTupleIsValid(tuple))
	{
		Form_pg_statistic statistic = (Form_pg_statistic) GETSTRUCT(tuple);

		values.width = statistic->stawidth;
		values.present = 1 - statistic->stanullfrac;
		values.distinct =
			statistic->stadistinct < 0 ? -statistic->stadistinct * rows : statistic->stadistinct;
		ReleaseSysCache(tuple);
	}
	if (attribute->attlen > 0)
		values.width = attribute->attlen;
	else if (values.width <= 0)
		values.width = get_typavgwidth(attribute->atttypid, attribute->atttypmod);
	return values;
}

/*
 * What values of any length take in so many rows and segments: packed, or by a dictionary of each.
 */
static double
hg_advise_variable(const HgAdviseValues *values, double rows, BlockNumber blocks)
{
	double segments = hg_segment_count(blocks);
	/* old rows' default of a column that was added later is kept once, and lies in no block */
	double packed = Min(rows * values->present * values->width,
						(double) blocks * BLCKSZ + segments * values->width) +
					rows * sizeof(uint32) / HG_GROUP_ROWS;
	double codes = Min(values->distinct, rows / Max(segments, 1));

	if (codes == 0 || codes > HG_MOST_CODES)
		return packed;
	return Min(packed,
			   rows * (codes > 256 ? 2 : 1) + segments * codes * (values->width + sizeof(uint32)));
}

/* What the HashGraph of a column would take that has a key in so many rows. */
static double
hg_advise_graph(Form_pg_attribute attribute, double rows)
{
	HgResidentColumn column = hg_resident_column(attribute);
	const HgKeyEncoder *encoder;
	HgGraphKey key;
	HgFlatShape shape;
	double bins;

	encoder = hg_graph_key_create(1, &column, &key);
	if (encoder == NULL)
		return 0;
	shape = hg_flat_shape(encoder->width, (uint64) rows);
	bins = (double) (UINT64CONST(1) << shape.bins_log2);
	return sizeof(HgResidentGraph) +
		   bins *
			   (double) (sizeof(dsa_pointer) + hg_flat_bin_bytes(&shape, (uint64) (rows / bins)));
}

/*
 * Add what a table's column takes, where a value may be NULL a bit that tells whether it is, and
 * what a graph of it would.
 */
static void
hg_advise_add_column(Relation rel, bool sees_rows, AttrNumber number, double rows,
					 BlockNumber blocks, double *bytes, double *graph_bytes)
{
	Form_pg_attribute attribute;
	HgAdviseValues values;

	if (number == InvalidAttrNumber)
		return;
	attribute = TupleDescAttr(RelationGetDescr(rel), number - 1);
	values = hg_advise_values(rel, sees_rows, attribute, rows);
	if (attribute->attlen > 0 && attribute->attlen <= HG_FIXED_WIDTH)
		*bytes += rows * values.width;
	else
		*bytes += hg_advise_variable(&values, rows, blocks);
	if (!attribute->attnotnull)
		*bytes += rows / BITS_PER_BYTE;
	*graph_bytes += hg_advise_graph(attribute, rows * values.present);
}

/* Add a table, which is the one that was asked for or a partition, with columns of its own. */
static void
hg_advise_add(Relation rel, Relation asked, HgAdviseSize *size)
{
	bool sees_rows = size->sees_rows && hg_advise_sees_rows(rel);
	BlockNumber blocks;
	double rows;
	double visible;

	if (rel->rd_rel->relkind != RELKIND_RELATION && rel->rd_rel->relkind != RELKIND_MATVIEW)
		return;
	estimate_rel_size(rel, NULL, &blocks, &rows, &visible);
	size->blocks += blocks;
	for (int i = 0; i < size->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(asked), i);

		if (!attribute->attisdropped)
			hg_advise_add_column(
				rel, sees_rows,
				rel == asked ? i + 1
							 : get_attnum(RelationGetRelid(rel), NameStr(attribute->attname)),
				rows, blocks, &size->bytes[i], &size->graph_bytes[i]);
	}
}

static HgAdviseSize
hg_advise_size(Relation rel)
{
	HgAdviseSize size = {.natts = RelationGetNumberOfAttributes(rel),
						 .sees_rows = hg_advise_sees_rows(rel)};
	List *partitions;
	ListCell *cell;

	size.bytes = palloc0(Max(size.natts, 1) * sizeof(double));
	size.graph_bytes = palloc0(Max(size.natts, 1) * sizeof(double));
	if (rel->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
	{
		hg_advise_add(rel, rel, &size);
		return size;
	}
	partitions = find_all_inheritors(RelationGetRelid(rel), AccessShareLock, NULL);
	/* the first one is the table itself, whose lock is the caller's */
	for_each_from(cell, partitions, 1)
	{
		Relation partition = relation_open(lfirst_oid(cell), NoLock);

		hg_advise_add(partition, rel, &size);
		relation_close(partition, AccessShareLock);
	}
	return size;
}

/* Bytes that segments take beside their columns. */
static double
hg_advise_own_bytes(HgAdviseSize size)
{
	double segments = hg_segment_count(size.blocks);

	return segments * (sizeof(HgSegmentVersion) +
					   HG_SEGMENT_BLOCKS * (sizeof(XLogRecPtr) + sizeof(uint32) + sizeof(Buffer)));
}

/* A row of the result; a column of NULL stands for what the table takes by itself. */
static void
hg_advise_put(FunctionCallInfo fcinfo, Form_pg_attribute attribute, HgResidentReason reason,
			  double bytes, double graph_bytes)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	HgSqlRow row = hg_sql_row_start(fcinfo, ADVISE_COLUMNS);

	if (attribute != NULL)
	{
		hg_sql_row_set(&row, ADVISE_COLUMN, NameGetDatum(&attribute->attname));
		hg_sql_row_set(&row, ADVISE_TYPE, ObjectIdGetDatum(attribute->atttypid));
	}
	if (reason != HG_REASON_NONE)
		hg_sql_row_set_text(&row, ADVISE_REASON, hg_resident_reason_text(reason));
	else
		hg_sql_row_set_count(&row, ADVISE_HOST_BYTES, (uint64) bytes);
	if (reason == HG_REASON_NONE && graph_bytes > 0)
		hg_sql_row_set_count(&row, ADVISE_GRAPH_BYTES, (uint64) graph_bytes);
	tuplestore_putvalues(result->setResult, result->setDesc, row.values, row.nulls);
}

Datum
hashgraph_resident_advise(PG_FUNCTION_ARGS)
{
	Relation rel = hg_sql_relation_open(PG_GETARG_OID(0));
	TupleDesc desc = RelationGetDescr(rel);
	HgResidentReason whole = HG_REASON_NONE;
	HgAdviseSize size;

	InitMaterializedSRF(fcinfo, 0);
	if (!hg_may_maintain(RelationGetRelid(rel)) &&
		pg_class_aclcheck(RelationGetRelid(rel), GetUserId(), ACL_SELECT) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, get_relkind_objtype(rel->rd_rel->relkind),
					   RelationGetRelationName(rel));
	if (rel->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		whole = hg_validity_may_take_in(rel);
	size = hg_advise_size(rel);
	hg_advise_put(fcinfo, NULL, whole, hg_advise_own_bytes(size), 0);
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);
		HgResidentReason reason = hg_encode_may_take_in(attribute);

		if (!attribute->attisdropped)
			hg_advise_put(fcinfo, attribute, whole != HG_REASON_NONE ? whole : reason,
						  size.bytes[i], size.graph_bytes[i]);
	}
	relation_close(rel, AccessShareLock);
	return (Datum) 0;
}
