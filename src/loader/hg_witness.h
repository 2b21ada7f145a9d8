/*-------------------------------------------------------------------------
 *
 * hg_witness.h
 *	  The period of the witnesses of a database.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_WITNESS_H
#define HG_WITNESS_H

/* Returns the time from one round to the next, in ms.  Xmin is held back by twice as much. */
extern long hg_witness_period(void);

#endif /* HG_WITNESS_H */
