/*-------------------------------------------------------------------------
 *
 * hg_width.h
 *	  Loops over the values of a by-value column, one for each width.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_WIDTH_H
#define HG_WIDTH_H

#include "access/tupmacs.h"

/*
 * Run loop(width) with the width of a by-value type, which is 1, 2, 4 or 8 bytes, as a constant:
 * fetch_att() and store_att_byval() of that width are then a load and a store.
 */
#define HG_FOR_WIDTH(width, loop)                                                                  \
	do                                                                                             \
	{                                                                                              \
		switch (width)                                                                             \
		{                                                                                          \
			case 1:                                                                                \
				loop(1);                                                                           \
				break;                                                                             \
			case 2:                                                                                \
				loop(2);                                                                           \
				break;                                                                             \
			case 4:                                                                                \
				loop(4);                                                                           \
				break;                                                                             \
			default:                                                                               \
				loop(8);                                                                           \
				break;                                                                             \
		}                                                                                          \
	} while (0)

#endif /* HG_WIDTH_H */
