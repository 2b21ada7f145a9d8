/*-------------------------------------------------------------------------
 *
 * hg_sql_resident_advise.c
 *	  hashgraph_resident_advise(): what taking a table's columns in would need.
 *
 * An estimate, as the planner makes it, of rows; what each of them takes is known.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/relation.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "optimizer/plancat.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/tuplestore.h"

#include "loader/hg_loader_encode.h"
#include "resident/hg_resident_report.h"
#include "resident/hg_resident_validity.h"
#include "resident/hg_resident_version.h"
#include "sql/hg_sql_row.h"

PG_FUNCTION_INFO_V1(hashgraph_resident_advise);

/* Numbers of the columns of hashgraph_resident_advise(). */
typedef enum HgAdviseColumn
{
	ADVISE_COLUMN = 0,
	ADVISE_TYPE,
	ADVISE_REASON,
	ADVISE_HOST_BYTES,
	ADVISE_COLUMNS
} HgAdviseColumn;

/* How large a table is, or all partitions of one. */
typedef struct HgAdviseSize
{
	BlockNumber blocks;
	double rows;
} HgAdviseSize;

static void
hg_advise_add(Relation rel, HgAdviseSize *size)
{
	BlockNumber blocks;
	double rows;
	double visible;

	if (rel->rd_rel->relkind != RELKIND_RELATION && rel->rd_rel->relkind != RELKIND_MATVIEW)
		return;
	estimate_rel_size(rel, NULL, &blocks, &rows, &visible);
	size->blocks += blocks;
	size->rows += rows;
}

static HgAdviseSize
hg_advise_size(Relation rel)
{
	HgAdviseSize size = {0};
	List *partitions;
	ListCell *cell;

	if (rel->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
	{
		hg_advise_add(rel, &size);
		return size;
	}
	partitions = find_all_inheritors(RelationGetRelid(rel), AccessShareLock, NULL);
	foreach (cell, partitions)
	{
		Relation partition = relation_open(lfirst_oid(cell), NoLock);

		hg_advise_add(partition, &size);
		relation_close(partition, AccessShareLock);
	}
	return size;
}

/* Bytes that a column takes at most: where a value may be NULL a bit tells whether it is. */
static double
hg_advise_column_bytes(Form_pg_attribute attribute, HgAdviseSize size)
{
	return size.rows * attribute->attlen + (attribute->attnotnull ? 0 : size.rows / BITS_PER_BYTE);
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
			  double bytes)
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
	tuplestore_putvalues(result->setResult, result->setDesc, row.values, row.nulls);
}

Datum
hashgraph_resident_advise(PG_FUNCTION_ARGS)
{
	Relation rel = relation_open(PG_GETARG_OID(0), AccessShareLock);
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
	hg_advise_put(fcinfo, NULL, whole, hg_advise_own_bytes(size));
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);
		HgResidentReason reason = hg_encode_may_take_in(attribute);

		if (!attribute->attisdropped)
			hg_advise_put(fcinfo, attribute, whole != HG_REASON_NONE ? whole : reason,
						  hg_advise_column_bytes(attribute, size));
	}
	relation_close(rel, AccessShareLock);
	return (Datum) 0;
}
