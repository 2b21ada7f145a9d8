/*-------------------------------------------------------------------------
 *
 * hg_join_rules.c
 *	  Which pairs and rows a join returns, and the names of join types.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "engine/hg_engine.h"
#include "executor/join/hg_join_rules.h"

void
hg_join_rules_init(HgJoinRules *rules, JoinType join_type, bool inner_unique)
{
	*rules =
		(HgJoinRules){.join_type = join_type, .single_match = inner_unique, .return_matched = true};
	switch (join_type)
	{
		case JOIN_INNER:
			break;
		case JOIN_LEFT:
			rules->preserved[HG_OUTER] = true;
			break;
		case JOIN_RIGHT:
			rules->preserved[HG_INNER] = true;
			break;
		case JOIN_FULL:
			rules->preserved[HG_OUTER] = rules->preserved[HG_INNER] = true;
			break;
		case JOIN_SEMI:
			rules->single_match = true;
			break;
		case JOIN_ANTI:
			rules->single_match = true;
			rules->preserved[HG_OUTER] = true;
			rules->return_matched = false;
			break;
#if HG_HAVE_RIGHT_ANTI
		case JOIN_RIGHT_ANTI:
			rules->single_inner = true;
			rules->preserved[HG_INNER] = true;
			rules->return_matched = false;
			break;
#endif
#if HG_HAVE_RIGHT_SEMI
		case JOIN_RIGHT_SEMI:
			rules->single_inner = true;
			break;
#endif
		default:
			elog(ERROR, "unexpected join type %d", (int) join_type);
	}
}

const char *
hg_join_type_name(JoinType join_type)
{
	switch (join_type)
	{
		case JOIN_INNER:
			return "Inner";
		case JOIN_LEFT:
			return "Left";
		case JOIN_RIGHT:
			return "Right";
		case JOIN_FULL:
			return "Full";
		case JOIN_SEMI:
			return "Semi";
		case JOIN_ANTI:
			return "Anti";
#if HG_HAVE_RIGHT_ANTI
		case JOIN_RIGHT_ANTI:
			return "Right Anti";
#endif
#if HG_HAVE_RIGHT_SEMI
		case JOIN_RIGHT_SEMI:
			return "Right Semi";
#endif
		default:
			elog(ERROR, "unexpected join type %d", (int) join_type);
			return NULL;
	}
}
