/*-------------------------------------------------------------------------
 *
 * hg_aggregate_key.c
 *	  Keys of groups: how values of a type are compared.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/uuid.h"

#include "backend/hg_privilege.h"
#include "executor/aggregate/hg_aggregate_key.h"

static void
hg_group_key_init_word(HgGroupKey *key, uint64 mask)
{
	key->kind = HG_GROUP_KEY_WORD;
	key->mask = mask;
}

void
hg_group_key_init(HgGroupKey *key, Oid equality, Oid collation)
{
	RegProcedure function = get_opcode(equality);
	Oid hash;
	Oid right_hash;

	hg_privilege_check_function(function);
	key->collation = collation;
	switch (function)
	{
		case F_BOOLEQ:
		case F_CHAREQ:
			hg_group_key_init_word(key, 0xff);
			return;
		case F_INT2EQ:
			hg_group_key_init_word(key, 0xffff);
			return;
		case F_INT4EQ:
		case F_DATE_EQ:
		case F_OIDEQ:
		case F_ENUM_EQ:
			hg_group_key_init_word(key, 0xffffffff);
			return;
		case F_INT8EQ:
		case F_TIME_EQ:
		case F_TIMESTAMP_EQ:
		case F_TIMESTAMPTZ_EQ:
		case F_CASH_EQ:
			hg_group_key_init_word(key, PG_UINT64_MAX);
			return;
		case F_UUID_EQ:
			key->kind = HG_GROUP_KEY_BYTES;
			key->length = UUID_LEN;
			return;
		case F_BYTEAEQ:
			key->kind = HG_GROUP_KEY_TEXT;
			return;
		case F_TEXTEQ:
		case F_BPCHAREQ:
			if (!OidIsValid(collation) || !get_collation_isdeterministic(collation))
				break;
			key->kind = function == F_TEXTEQ ? HG_GROUP_KEY_TEXT : HG_GROUP_KEY_PADDED;
			return;
		default:
			break;
	}
	key->kind = HG_GROUP_KEY_FUNCTIONS;
	if (!get_op_hash_functions(equality, &hash, &right_hash))
		elog(ERROR, "could not find hash function for hash operator %u", equality);
	fmgr_info(hash, &key->hash);
	fmgr_info(function, &key->equal);
}
