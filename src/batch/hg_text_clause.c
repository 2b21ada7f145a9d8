/*-------------------------------------------------------------------------
 *
 * hg_text_clause.c
 *	  Text conditions: collations that compare texts as bytes, and LIKE.
 *
 * Under a deterministic collation, texts are equal if their bytes are (texteq(), bpchareq()), and
 * LIKE compares bytes (like_match.c).  No other collation is supported.  % stands for whole
 * characters.  In encodings such as EUC, bytes of a pattern may occur in a text without being
 * characters of it.  Texts are ordered by their bytes under the C collation only.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_database.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "batch/hg_comparison.h"

/*
 * Returns true if texts are known to be ordered by their bytes under a collation.  PostgreSQL's
 * own test is in a header that needs ICU's headers, which a server's installation may lack.  So
 * only built-in C and the database's collation are recognized.
 */
static bool
hg_collation_is_c(Oid collation)
{
	HeapTuple tuple;
	bool is_c = false;

	if (collation == C_COLLATION_OID)
		return true;
	if (collation != DEFAULT_COLLATION_OID)
		return false;
	tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));
	if (!HeapTupleIsValid(tuple))
		return false;
	if (((Form_pg_database) GETSTRUCT(tuple))->datlocprovider == COLLPROVIDER_LIBC)
	{
		bool isnull;
		Datum collate = SysCacheGetAttr(DATABASEOID, tuple, Anum_pg_database_datcollate, &isnull);
		char *name = isnull ? NULL : TextDatumGetCString(collate);

		is_c = name != NULL && (strcmp(name, "C") == 0 || strcmp(name, "POSIX") == 0);
	}
	ReleaseSysCache(tuple);
	return is_c;
}

bool
hg_text_is_bytewise(Oid collation, bool equality)
{
	if (!OidIsValid(collation))
		return false;
	return equality ? get_collation_isdeterministic(collation) : hg_collation_is_c(collation);
}

bool
hg_text_is_like(Oid opno)
{
	return opno == OID_TEXT_LIKE_OP || opno == OID_BPCHAR_LIKE_OP;
}

/* Returns true if bytes of whole characters in a text are always characters of it. */
static bool
hg_text_has_characters(void)
{
	return GetDatabaseEncoding() == PG_UTF8 || pg_database_encoding_max_length() == 1;
}

/* Splits a pattern at its %.  Returns the number of parts that are not empty. */
static int
hg_pattern_part(HgBytes pattern, HgBytes *parts)
{
	int nparts = 0;
	int begin = 0;

	for (int i = 0; i <= pattern.length; i++)
	{
		if (i < pattern.length && pattern.data[i] != '%')
			continue;
		if (i > begin)
			parts[nparts++] = (HgBytes){pattern.data + begin, i - begin};
		begin = i + 1;
	}
	return nparts;
}

HgPredicate *
hg_predicate_from_like(AttrNumber attno, const Const *pattern, Oid collation, bool negated)
{
	HgBytes bytes;
	HgBytes *parts;
	HgPredicate *predicate;
	bool at_start;
	bool at_end;
	int nparts;

	if (attno == 0 || pattern->consttype != TEXTOID || !OidIsValid(collation) ||
		!get_collation_isdeterministic(collation))
		return NULL;
	bytes =
		hg_bytes_of(HG_ORDER_TEXT, PointerGetDatum(PG_DETOAST_DATUM_PACKED(pattern->constvalue)));
	if (memchr(bytes.data, '_', bytes.length) != NULL ||
		memchr(bytes.data, '\\', bytes.length) != NULL)
		return NULL;
	/* trailing blanks of a char(n) count here */
	if (memchr(bytes.data, '%', bytes.length) == NULL)
		return hg_predicate_equal(attno, HG_ORDER_TEXT, 1, &bytes, negated);
	at_start = bytes.data[0] != '%';
	at_end = bytes.data[bytes.length - 1] != '%';
	parts = palloc((bytes.length + 1) * sizeof(HgBytes));
	nparts = hg_pattern_part(bytes, parts);
	if ((at_end || nparts > (at_start ? 1 : 0)) && !hg_text_has_characters())
		return NULL;
	predicate = hg_predicate_like(attno, HG_ORDER_TEXT, nparts, parts, at_start, at_end, negated);
	pfree(parts);
	return predicate;
}
