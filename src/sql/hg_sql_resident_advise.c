/*-------------------------------------------------------------------------
 *
 * hg_sql_resident_advise.c
 *	  hashgraph_resident_advise(): memory that caching a table's columns would need.
 *
 * The number of rows is the planner's estimate.  The bytes of each value are known for a type of
 * fixed width; otherwise they are what ANALYZE has found, or the planner assumes.  ANALYZE's
 * findings depend on rows: they are not used if the user may not see all rows (pg_stats hides them
 * as well).
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
#include "loader/hg_loader_column.h"
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

/* The size of a table, or of all partitions of one. */
typedef struct HgAdviseSize
{
	int natts;		/* of the table that is the argument */
	bool sees_rows; /* the user may see all rows of that table */
	BlockNumber blocks;
	double *bytes;		 /* [natts] */
	double *graph_bytes; /* [natts] of the columns' graphs */
} HgAdviseSize;

/* What is known about a column's values. */
typedef struct HgAdviseValues
{
	double width;	 /* bytes of a value that is not NULL */
	double present;	 /* part of the rows that are not NULL */
	double distinct; /* number of distinct values; 0: unknown */
} HgAdviseValues;

/* Returns true if no policy hides rows of a table from the user. */
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

/* Returns the bytes of values of variable length: packed, or with a dictionary in each segment. */
static double
hg_advise_variable(const HgAdviseValues *values, double rows, BlockNumber blocks)
{
	double segments = hg_segment_count(blocks);
	/* the default of a column that was added later is stored once, and lies in no block */
	double packed = Min(rows * values->present * values->width,
						(double) blocks * BLCKSZ + segments * values->width) +
					rows * sizeof(uint32) / HG_GROUP_ROWS;
	double codes = Min(values->distinct, rows / Max(segments, 1));

	if (codes == 0 || codes > HG_MOST_CODES)
		return packed;
	return Min(packed,
			   rows * (codes > 256 ? 2 : 1) + segments * codes * (values->width + sizeof(uint32)));
}

/* Returns the bytes of the graph of a column with a key in this many rows; 0: none is possible. */
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

/* Adds the bytes of a column, with a bit for each row if it may have NULLs, and of its graph. */
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

/* Adds a table, which is the argument or a partition of it with its own column numbers. */
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
	/* the first one is the table itself, which the caller has locked */
	for_each_from(cell, partitions, 1)
	{
		Relation partition = relation_open(lfirst_oid(cell), NoLock);

		hg_advise_add(partition, rel, &size);
		relation_close(partition, AccessShareLock);
	}
	return size;
}

/* Returns the bytes that segments need beside their columns. */
static double
hg_advise_own_bytes(HgAdviseSize size)
{
	double segments = hg_segment_count(size.blocks);

	return segments * (sizeof(HgSegmentVersion) +
					   HG_SEGMENT_BLOCKS * (sizeof(XLogRecPtr) + sizeof(uint32) + sizeof(Buffer)));
}

/* Adds a row to the result; attribute NULL is for what the table needs beside its columns. */
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
