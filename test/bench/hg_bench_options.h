/*-------------------------------------------------------------------------
 *
 * hg_bench_options.h
 *	  Options of the benchmarks: numbers, names and engines.  What is wrong ends the program.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_BENCH_OPTIONS_H
#define HG_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

/* The number that text is, at most max, for --option of program. */
extern unsigned long hg_bench_number(const char *program, const char *option, const char *text,
									 unsigned long max);

/* Which of count things text is; what says what they are, and name_of how each is called. */
extern int hg_bench_choice(const char *program, const char *what, const char *text, int count,
						   const char *(*name_of)(int) );

/* How a kind of table is called. */
extern const char *hg_bench_kind_name(int kind);

/* Are all names of a list with commas such as hg_bench_choice knows? */
extern void hg_bench_check_list(const char *program, const char *what, const char *list, int count,
								const char *(*name_of)(int) );

/* Is a name in a list with commas?  Everything is in no list. */
extern bool hg_bench_is_listed(const char *list, const char *name);

/*
 * Which engines a list names, as an option of that name has it; NULL: all that were built in.  CUDA
 * alone is refused where it was not, and else left out.
 */
extern void hg_bench_engines(const char *program, const char *what, const char *list, bool *cpu,
							 bool *cuda);

/* Show how a program is used, because that was asked for or an option was wrong, and end it. */
extern void hg_bench_help(void (*usage)(FILE *file), bool asked);

#endif /* HG_BENCH_OPTIONS_H */
