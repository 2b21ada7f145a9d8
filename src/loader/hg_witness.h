/*-------------------------------------------------------------------------
 *
 * hg_witness.h
 *	  How often the witnesses of a database take turns.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_WITNESS_H
#define HG_WITNESS_H

/* From one round to the next, in ms.  Xmin is held back by twice as much. */
extern long hg_witness_period(void);

#endif /* HG_WITNESS_H */
