/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_dycuckoo.cu
 *	  DyCuckoo on a device: subtables of buckets, of which one at a time is resized.
 *
 * Y. Li and others, "Dynamic Hash Tables on GPUs", ICDE 2021: d subtables of 2^k buckets, each
 * with its own function.  The load is kept between alpha and beta (min_filled, max_filled) by
 * doubling the smallest or halving the largest subtable alone.  ../../src/tables/
 * hg_table_dycuckoo.c describes that.  This implementation differs:
 *
 * TWO BUCKETS.  A first function gives each key a pair of subtables, and the key is in one of its
 * two buckets there.  A lookup reads two buckets, however many subtables there are, and one if the
 * key is in the first.  Bits of the same function decide which of the pair is first, with
 * probabilities in proportion to the empty slots of the two.  (The paper's probabilities, slots /
 * C(pairs, 2), are for buckets in which any two keys conflict.  With many slots a bucket it
 * matters how many buckets are full, which is least if all subtables have the same load.)
 *
 * BUCKETS have 64 bytes, the least that a device reads at random at the speed of its memory: 8
 * pairs of 32-bit keys with the rows beside the keys, since a find is then one access; 8 keys of
 * 64 bits with the rows apart; 16 or 8 keys of a set.  Four lanes read a bucket.
 *
 * INSERT has two phases; the first suffices for most pairs, and needs no locks:
 *
 * 1. place	Each pair reads both of its buckets.  If the key is there, the pair is left out.
 *			Otherwise it takes an empty slot by compare-and-swap, the first one in an order of the
 *			slots of both: six of eight of the first bucket, as many of the second, and the others.
 *			If another pair was faster, it checks that pair's key, and goes on to the next slot.
 * 2. evict	Pairs whose buckets were full.  One of each key gets the claim, in a table of claims,
 *			and evicts a pair, which moves to its other bucket, and so on until a bucket has room.
 *			One compare-and-swap exchanges a pair if the slot has all of it.  Keys of 64 bits have
 *			their rows apart: then the bucket is locked.  A lane has at most one lock at a time,
 *			and frees it before it takes another.
 *
 * Each key is inserted once.  In phase 1 slots are only filled, and nothing moves, so a key of the
 * table is found.  Two equal keys of a batch visit the same slots in the same order, since the
 * order of the subtables depends on the key alone, and each takes a slot only after it has seen
 * that other keys have all slots before.  So the one with the later slot would have seen the other
 * one, and they cannot both take one slot.  If one finds both buckets full without its key, so
 * does the other.  In phase 2 keys move, so that no search is possible.  None is needed: no key of
 * phase 2 was in the table before, and of equal ones one has the claim.
 *
 * A chain of more than 7 lg(slots) evictions means that the table is full in fact: then the
 * smallest subtable is doubled.  If the load is below alpha, it means that the functions are bad:
 * then all pairs go to new subtables, by new functions.  Pairs that are left over pass both phases
 * again.
 *
 * ERASE finds the slot, and empties it by compare-and-swap: of two that name it one succeeds.
 *
 * BOUNDS.  Before an insert there is room for all pairs at beta.  If that is not certain, the keys
 * that the table does not have are counted first.  This count is skipped if the batch is small,
 * and the load with a doubled subtable and none of its pairs would still be alpha.  If many pairs
 * were equal, the table may then be too large, which is checked at the end of the change.
 *
 * WAITING.  A change that inserts waits for the device once, for the number of pairs that are left
 * over.  One that erases waits only if its caller wants the counts, or the load may be below
 * alpha: the known rows are then an upper bound, and the rows that may be gone are counted.
 *
 * MEMORY: the subtables; beside them the one that replaces another, or with new functions all
 * pairs; and the pairs that are left over, twice.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include <algorithm>
#include <cstring>

#include "../kernels/hg_cuda_shape.h"
#include "hg_cuda_table_dycuckoo_kernels.h"

/*
 * A table, and the functions that its parts share.  The parts come in this order: subtables, then
 * inserted pairs, then the calls of the kind.  Each part calls only those before it.
 */

/* Pairs that are inserted, keys and slots that are read, between two checks for cancellation. */
constexpr uint64_t HG_DY_PIECE_PAIRS = UINT64_C(1) << 22;
constexpr uint64_t HG_DY_PIECE_KEYS = UINT64_C(1) << 24;
constexpr uint64_t HG_DY_PIECE_SLOTS = UINT64_C(1) << 26;

/* A DyCuckoo table. */
struct HgCudaDycuckoo
{
	HgCudaTable base;
	HgDyTable table;							 /* its arrays are in device memory */
	uint32_t log2[HG_TABLE_MAX_SUBTABLES];		 /* of the buckets of each subtable */
	uint32_t least_log2[HG_TABLE_MAX_SUBTABLES]; /* to which it may be halved */
	HgDyState *state;							 /* in device memory */
	HgDyState known;							 /* copy from the last read */
	uint64_t erased;							 /* upper bound on rows erased since */
	uint64_t random;							 /* state of the random numbers for functions */
	uint32_t functions_made;
};

/* Calls a function template with the type of a table's slots. */
#define HG_DY_BY_SLOTS(table, function, ...)                                                       \
	HG_BY_SLOTS(HgDySlots, (table)->spec, function, __VA_ARGS__)

/* Returns the slots of a bucket. */
static inline uint32_t
hg_dy_bucket_slots(const HgTableSpec *spec)
{
	return HG_DY_BUCKET_BYTES / (spec->key_width == 4 && spec->content == HG_TABLE_SET ? 4 : 8);
}

/* Returns true if the rows are in an array of their own. */
static inline bool
hg_dy_rows_are_apart(const HgTableSpec *spec)
{
	return spec->key_width == 8 && spec->content != HG_TABLE_SET;
}

/* Returns the bytes of a number of slots. */
static inline uint64_t
hg_dy_slots_bytes(const HgTableSpec *spec, uint64_t slots)
{
	return slots / hg_dy_bucket_slots(spec) * HG_DY_BUCKET_BYTES +
		   (hg_dy_rows_are_apart(spec) ? slots * sizeof(uint32_t) : 0);
}

/* Return the most rows that a number of slots may have, and the least that they should have. */
static inline uint64_t
hg_dy_most_rows(const HgTableSpec *spec, uint64_t slots)
{
	return (uint64_t) (spec->max_filled * (double) slots);
}

static inline uint64_t
hg_dy_least_rows(const HgTableSpec *spec, uint64_t slots)
{
	return (uint64_t) (spec->min_filled * (double) slots);
}

/* Return the slots of a subtable, and of all subtables. */
static inline uint64_t
hg_dy_subtable_slots(const HgCudaDycuckoo *dy, uint32_t i)
{
	return (uint64_t) hg_dy_bucket_slots(&dy->base.spec) << dy->log2[i];
}

static inline uint64_t
hg_dy_all_slots(const HgCudaDycuckoo *dy)
{
	uint64_t slots = 0;

	for (uint32_t i = 0; i < dy->base.spec.subtables; i++)
		slots += hg_dy_subtable_slots(dy, i);
	return slots;
}

/* ------------------------------------------------------------------------
 * Subtables
 * ------------------------------------------------------------------------ */

/* Sets log2 to the least sizes of subtables for this many rows.  Returns the slots of all. */
uint64_t hg_dy_choose_sizes(const HgTableSpec *spec, uint64_t rows,
							uint32_t log2[HG_TABLE_MAX_SUBTABLES]);

/* Sets new random functions. */
void hg_dy_choose_functions(HgCudaDycuckoo *dy);

/*
 * alloc sets new slots of 2^log2 buckets for a subtable, and does not free its old ones.  They are
 * empty, or undefined without empty.  free frees the slots of a subtable.
 */
HgStatus hg_dy_alloc_slots(HgCudaDycuckoo *dy, uint32_t log2, bool empty, HgDySubtable *subtable,
						   HgError *error);
void hg_dy_free_slots(HgCudaDycuckoo *dy, HgDySubtable *subtable);

/* Replaces all subtables by empty ones of the sizes in dy->log2. */
HgStatus hg_dy_make_subtables(HgCudaDycuckoo *dy, HgError *error);

/* read waits and copies the device's state; know does so only if rows may have been erased. */
HgStatus hg_dy_read_state(HgCudaDycuckoo *dy, HgError *error);
HgStatus hg_dy_know_rows(HgCudaDycuckoo *dy, HgError *error);

/* Sets the probabilities of a key's first subtable, by the empty slots of the subtables. */
void hg_dy_choose_thresholds(HgCudaDycuckoo *dy);

/* Doubles the smallest subtable. */
HgStatus hg_dy_double_smallest(HgCudaDycuckoo *dy, HgError *error);

/*
 * Copies all pairs of the subtables, but not the one beside them: keys, or mixed words.
 * state->exported becomes their number.  rows may be NULL.
 */
HgStatus hg_dy_export_slots(HgCudaDycuckoo *dy, bool as_keys, void *words, uint32_t *rows,
							HgError *error);

/* ------------------------------------------------------------------------
 * Insert
 * ------------------------------------------------------------------------ */

/* Returns the bytes of device memory that inserting this many pairs takes. */
uint64_t hg_dy_scratch_bytes(uint32_t key_width, uint64_t pairs);

/*
 * Inserts a list of at most HG_DY_PIECE_PAIRS keys.  The caller has made room for them.  Waits, so
 * that the rows of the table are known.
 */
HgStatus hg_dy_insert_keys(HgCudaDycuckoo *dy, const HgSlotBatch *list, HgError *error);

/*
 * Halves the largest subtable that may be halved, while the table has too few rows for its slots.
 * It stops if the rows that are left over make a subtable double.
 */
HgStatus hg_dy_hold_least(HgCudaDycuckoo *dy, HgError *error);

/* ---------------------------------------------------------------------
 * Subtables of DyCuckoo in device memory: sizes, functions, state, doubling
 * ---------------------------------------------------------------------
 */

uint64_t
hg_dy_choose_sizes(const HgTableSpec *spec, uint64_t rows, uint32_t log2[HG_TABLE_MAX_SUBTABLES])
{
	uint64_t slots = (uint64_t) spec->subtables * hg_dy_bucket_slots(spec);

	memset(log2, 0, HG_TABLE_MAX_SUBTABLES * sizeof(uint32_t));
	for (uint32_t i = 0; hg_dy_most_rows(spec, slots) < rows; i = (i + 1) % spec->subtables)
		slots += (uint64_t) hg_dy_bucket_slots(spec) << log2[i]++;
	return slots;
}

static uint64_t
next_random(HgCudaDycuckoo *dy)
{
	return hg_mix64(dy->random += UINT64_C(0x9e3779b97f4a7c15));
}

static void
choose_function(HgCudaDycuckoo *dy, HgDySubtable *subtable)
{
	subtable->flip = next_random(dy);
	subtable->factor = next_random(dy) | 1;
	if (dy->functions_made++ < dy->base.spec.bad_functions)
		subtable->factor = 0;
}

void
hg_dy_choose_functions(HgCudaDycuckoo *dy)
{
	for (uint32_t i = 0; i < dy->base.spec.subtables; i++)
		choose_function(dy, &dy->table.subtables[i]);
	dy->table.flip = next_random(dy);
	dy->table.factor = next_random(dy) | 1;
}

HgStatus
hg_dy_alloc_slots(HgCudaDycuckoo *dy, uint32_t log2, bool empty, HgDySubtable *subtable,
				  HgError *error)
{
	HgCudaWork *work = &dy->base.work;
	const uint64_t slots = (uint64_t) hg_dy_bucket_slots(&dy->base.spec) << log2;
	const uint64_t bytes = (uint64_t) HG_DY_BUCKET_BYTES << log2;

	subtable->slots = nullptr;
	subtable->rows = nullptr;
	subtable->mask = (uint32_t) ((UINT64_C(1) << log2) - 1);
	HG_TRY(hg_cuda_alloc(work, bytes, &subtable->slots, error));
	if (hg_dy_rows_are_apart(&dy->base.spec))
		HG_TRY(hg_cuda_alloc_array(work, slots, &subtable->rows, error));
	if (empty)
		HG_CUDA_TRY(cudaMemsetAsync(subtable->slots, 0xff, bytes, work->stream), error);
	return HG_OK;
}

void
hg_dy_free_slots(HgCudaDycuckoo *dy, HgDySubtable *subtable)
{
	hg_cuda_free(&dy->base.work, subtable->slots);
	hg_cuda_free(&dy->base.work, subtable->rows);
	subtable->slots = nullptr;
	subtable->rows = nullptr;
}

HgStatus
hg_dy_make_subtables(HgCudaDycuckoo *dy, HgError *error)
{
	for (uint32_t i = 0; i < dy->base.spec.subtables; i++)
	{
		hg_dy_free_slots(dy, &dy->table.subtables[i]);
		HG_TRY(hg_dy_alloc_slots(dy, dy->log2[i], true, &dy->table.subtables[i], error));
	}
	HG_CUDA_TRY(cudaMemsetAsync(dy->state->rows, 0, sizeof(dy->state->rows), dy->base.work.stream),
				error);
	memset(dy->known.rows, 0, sizeof(dy->known.rows));
	return HG_OK;
}

HgStatus
hg_dy_read_state(HgCudaDycuckoo *dy, HgError *error)
{
	HgCudaTable *table = &dy->base;
	const void *host;

	HG_TRY(hg_cuda_read_back(&table->work, dy->state, sizeof(HgDyState), &host, error));
	memcpy(&dy->known, host, sizeof(HgDyState));
	dy->erased = 0;
	table->rows = dy->known.odd_row != HG_CUDA_EMPTY_ROW;
	for (uint32_t i = 0; i < table->spec.subtables; i++)
		table->rows += dy->known.rows[i];
	table->totals.evictions = dy->known.evictions;
	table->totals.longest_chain = dy->known.longest_chain;
	return HG_OK;
}

HgStatus
hg_dy_know_rows(HgCudaDycuckoo *dy, HgError *error)
{
	return dy->erased > 0 ? hg_dy_read_state(dy, error) : HG_OK;
}

void
hg_dy_choose_thresholds(HgCudaDycuckoo *dy)
{
	double free[HG_TABLE_MAX_SUBTABLES];
	uint32_t pair = 0;

	for (uint32_t i = 0; i < dy->base.spec.subtables; i++)
		free[i] = (double) hg_dy_subtable_slots(dy, i) - (double) dy->known.rows[i] + 1;
	for (uint32_t i = 0; i < dy->base.spec.subtables; i++)
		for (uint32_t j = i + 1; j < dy->base.spec.subtables; j++)
		{
			dy->table.first[pair] = (uint8_t) i;
			dy->table.second[pair] = (uint8_t) j;
			dy->table.threshold[pair] = (uint32_t) (free[i] / (free[i] + free[j]) * 4294967295.0);
			pair++;
		}
	dy->table.count = dy->base.spec.subtables;
	dy->table.pairs = pair;
}

template <typename Slots>
static HgStatus
double_subtable(HgCudaDycuckoo *dy, uint32_t number, HgError *error)
{
	HgCudaWork *work = &dy->base.work;
	HgDySubtable *subtable = &dy->table.subtables[number];
	HgDySubtable twice = *subtable;

	HG_TRY(hg_dy_alloc_slots(dy, dy->log2[number] + 1, false, &twice, error));
	HG_TRY((hg_cuda_launch_pieces<hg_dy_double_kernel<Slots>, HG_DY_THREADS>(
		work, "hg_dy_double_kernel", hg_dy_subtable_slots(dy, number), HG_DY_PIECE_SLOTS, error,
		*subtable, twice, HG_PIECE_FIRST, HG_PIECE_END)));
	HG_TRY(hg_cuda_pace(work, error));
	hg_dy_free_slots(dy, subtable);
	*subtable = twice;
	dy->log2[number]++;
	dy->base.totals.doubled++;
	hg_dy_choose_thresholds(dy);
	return HG_OK;
}

HgStatus
hg_dy_double_smallest(HgCudaDycuckoo *dy, HgError *error)
{
	uint32_t smallest = 0;

	for (uint32_t i = 1; i < dy->base.spec.subtables; i++)
		if (dy->log2[i] < dy->log2[smallest])
			smallest = i;
	return HG_DY_BY_SLOTS(&dy->base, double_subtable, dy, smallest, error);
}

/* Copies all pairs of the subtables, but not the one beside them. */
template <typename Slots, bool KEYS>
static HgStatus
export_slots(HgCudaDycuckoo *dy, void *words, uint32_t *rows, HgError *error)
{
	HgCudaWork *work = &dy->base.work;

	HG_CUDA_TRY(cudaMemsetAsync(&dy->state->exported, 0, sizeof(dy->state->exported), work->stream),
				error);
	for (uint32_t i = 0; i < dy->base.spec.subtables; i++)
	{
		HG_TRY((hg_cuda_launch_pieces<hg_dy_export_kernel<Slots, KEYS>, HG_DY_THREADS>(
			work, "hg_dy_export_kernel", hg_dy_subtable_slots(dy, i), HG_DY_PIECE_SLOTS, error,
			dy->table.subtables[i], HG_PIECE_FIRST, HG_PIECE_END,
			static_cast<typename Slots::Word *>(words), rows, dy->state)));
		HG_TRY(hg_cuda_pace(work, error));
	}
	return HG_OK;
}

template <typename Slots>
static HgStatus
export_keys(HgCudaDycuckoo *dy, void *words, uint32_t *rows, HgError *error)
{
	return export_slots<Slots, true>(dy, words, rows, error);
}

template <typename Slots>
static HgStatus
export_words(HgCudaDycuckoo *dy, void *words, uint32_t *rows, HgError *error)
{
	return export_slots<Slots, false>(dy, words, rows, error);
}

HgStatus
hg_dy_export_slots(HgCudaDycuckoo *dy, bool as_keys, void *words, uint32_t *rows, HgError *error)
{
	return as_keys ? HG_DY_BY_SLOTS(&dy->base, export_keys, dy, words, rows, error)
				   : HG_DY_BY_SLOTS(&dy->base, export_words, dy, words, rows, error);
}

/* ---------------------------------------------------------------------
 * Inserts pairs into DyCuckoo tables in device memory, and halves subtables
 *
 * The top of this file describes the two phases, and what follows a chain that is too long.
 * ---------------------------------------------------------------------
 */

/* Most evictions of a chain, times log2 of the slots. */
static constexpr uint32_t CHAIN_LOGS = 7;

/* Most locks, and least claims. */
static constexpr uint32_t MOST_LOCKS = UINT32_C(1) << 17;
static constexpr uint64_t LEAST_CLAIMS = 64;

/* Functions that are tried before slots are added. */
static constexpr int TRIES = 12;

/* Memory of the phases, one block: pairs left over, pairs to try again, claims and locks. */
template <typename Word> struct Scratch
{
	HgDyRoom<Word> left;
	HgDyRoom<Word> next;
	uint32_t *claims; /* the locks stand behind them */
	uint32_t claim_count;
	uint32_t *locks;
	uint32_t lock_count;
};

static uint32_t
claims_for(uint64_t pairs)
{
	return UINT32_C(1) << hg_ceil_log2(std::max(LEAST_CLAIMS, pairs / 2));
}

uint64_t
hg_dy_scratch_bytes(uint32_t key_width, uint64_t pairs)
{
	return pairs * 2 * (key_width + sizeof(uint32_t)) +
		   (uint64_t) 2 * claims_for(pairs) * sizeof(uint32_t);
}

template <typename Slots>
static HgStatus restart(HgCudaDycuckoo *dy, const HgSlotBatch *more, HgError *error);

/* Allocates the memory of the phases for this many pairs. */
template <typename Word>
static HgStatus
alloc_scratch(HgCudaDycuckoo *dy, uint64_t pairs, Scratch<Word> *scratch, HgError *error)
{
	void *memory;

	HG_TRY(hg_cuda_alloc(&dy->base.work, hg_dy_scratch_bytes(sizeof(Word), pairs), &memory, error));
	scratch->left.words = static_cast<Word *>(memory);
	scratch->next.words = scratch->left.words + pairs;
	scratch->left.rows = reinterpret_cast<uint32_t *>(scratch->next.words + pairs);
	scratch->next.rows = scratch->left.rows + pairs;
	scratch->claims = scratch->next.rows + pairs;
	scratch->claim_count = claims_for(pairs);
	scratch->locks = scratch->claims + scratch->claim_count;
	scratch->lock_count = scratch->claim_count < MOST_LOCKS ? scratch->claim_count : MOST_LOCKS;
	return HG_OK;
}

/* Runs both phases over a list, of keys with KEYS, else of words, and reads the state. */
template <typename Slots, bool KEYS>
static HgStatus
run_phases(HgCudaDycuckoo *dy, const HgSlotBatch *list,
		   const Scratch<typename Slots::Word> *scratch, HgError *error)
{
	HgCudaWork *work = &dy->base.work;
	const uint32_t limit = scratch->claim_count / 2;
	const uint32_t most = CHAIN_LOGS * hg_ceil_log2(hg_dy_all_slots(dy));

	HG_CUDA_TRY(cudaMemsetAsync(&dy->state->left, 0, 3 * sizeof(uint32_t), work->stream), error);
	HG_CUDA_TRY(
		cudaMemsetAsync(scratch->claims, 0xff,
						((uint64_t) scratch->claim_count + scratch->lock_count) * sizeof(uint32_t),
						work->stream),
		error);
	HG_TRY((hg_cuda_launch<hg_dy_put_kernel<Slots, KEYS>>(
		work->stream, "hg_dy_put_kernel",
		std::min(hg_blocks_for(list->count, HG_DY_THREADS), HG_DY_CHANGE_BLOCKS), HG_DY_THREADS,
		error, dy->table, *list, scratch->left, dy->state)));
	HG_TRY((hg_cuda_launch<hg_dy_evict_kernel<Slots>>(
		work->stream, "hg_dy_evict_kernel",
		std::min(hg_blocks_for(list->count, HG_DY_THREADS), HG_DY_CHANGE_BLOCKS), HG_DY_THREADS,
		error, dy->table, scratch->left, scratch->next, limit, scratch->claims,
		scratch->claim_count - 1, scratch->locks, scratch->lock_count - 1, most, dy->state)));
	return hg_dy_read_state(dy, error);
}

/*
 * Inserts a list of at most HG_DY_PIECE_PAIRS.  If a chain is too long, the table is repaired; but
 * if failed is not NULL, *failed becomes true instead.
 */
template <typename Slots, bool KEYS>
static HgStatus
insert_list(HgCudaDycuckoo *dy, const HgSlotBatch *list, bool *failed, HgError *error)
{
	typedef typename Slots::Word Word;
	Scratch<Word> scratch;

	if (list->count == 0)
		return HG_OK;
	HG_TRY(alloc_scratch<Word>(dy, list->count, &scratch, error));
	hg_dy_choose_thresholds(dy);
	HG_TRY((run_phases<Slots, KEYS>(dy, list, &scratch, error)));
	while (dy->known.next > 0 && !(failed != nullptr && dy->known.failed > 0))
	{
		const HgSlotBatch again = {scratch.next.words, scratch.next.rows, 0, dy->known.next};

		if (dy->known.failed > 0)
		{
			if (dy->base.rows < hg_dy_least_rows(&dy->base.spec, hg_dy_all_slots(dy)))
			{
				HG_TRY(restart<Slots>(dy, &again, error));
				break;
			}
			HG_TRY(hg_dy_double_smallest(dy, error));
		}
		hg_dy_choose_thresholds(dy);
		HG_TRY((run_phases<Slots, false>(dy, &again, &scratch, error)));
	}
	if (failed != nullptr && dy->known.failed > 0)
		*failed = true;
	hg_cuda_free(&dy->base.work, scratch.left.words);
	return HG_OK;
}

/* Inserts words and rows, which may be more than a list. */
template <typename Slots>
static HgStatus
insert_words(HgCudaDycuckoo *dy, const typename Slots::Word *words, const uint32_t *rows,
			 uint64_t count, bool *failed, HgError *error)
{
	for (uint64_t first = 0; first < count && !(failed != nullptr && *failed);
		 first += HG_DY_PIECE_PAIRS)
	{
		const uint64_t piece =
			count - first < HG_DY_PIECE_PAIRS ? count - first : HG_DY_PIECE_PAIRS;
		const HgSlotBatch list = {words + first, rows + first, 0, (uint32_t) piece};

		HG_TRY((insert_list<Slots, false>(dy, &list, failed, error)));
	}
	return HG_OK;
}

/* Moves all pairs, and those of a list, to new subtables of the same sizes, by new functions. */
template <typename Slots>
static HgStatus
restart(HgCudaDycuckoo *dy, const HgSlotBatch *more, HgError *error)
{
	typedef typename Slots::Word Word;
	HgCudaWork *work = &dy->base.work;
	uint64_t count = 0;
	bool failed = true;
	Word *words;
	uint32_t *rows;

	for (uint32_t i = 0; i < dy->base.spec.subtables; i++)
		count += dy->known.rows[i];
	HG_TRY(hg_cuda_alloc_array(work, count + more->count, &words, error));
	HG_TRY(hg_cuda_alloc_array(work, count + more->count, &rows, error));
	HG_TRY(hg_dy_export_slots(dy, false, words, rows, error));
	HG_CUDA_TRY(cudaMemcpyAsync(words + count, more->keys, more->count * sizeof(Word),
								cudaMemcpyDeviceToDevice, work->stream),
				error);
	if (Slots::HAS_ROWS)
		HG_CUDA_TRY(cudaMemcpyAsync(rows + count, more->rows, more->count * sizeof(uint32_t),
									cudaMemcpyDeviceToDevice, work->stream),
					error);
	for (int tried = 0; failed; tried++)
	{
		uint32_t smallest = 0;

		dy->base.totals.restarts++;
		hg_dy_choose_functions(dy);
		for (uint32_t i = 1; i < dy->base.spec.subtables; i++)
			if (dy->log2[i] < dy->log2[smallest])
				smallest = i;
		if (tried >= TRIES && dy->functions_made > dy->base.spec.bad_functions)
			dy->log2[smallest]++;
		HG_TRY(hg_dy_make_subtables(dy, error));
		failed = false;
		HG_TRY(insert_words<Slots>(dy, words, rows, count + more->count, &failed, error));
	}
	hg_cuda_free(work, words);
	hg_cuda_free(work, rows);
	return HG_OK;
}

template <typename Slots>
static HgStatus
halve_subtable(HgCudaDycuckoo *dy, uint32_t number, HgError *error)
{
	typedef typename Slots::Word Word;
	HgCudaWork *work = &dy->base.work;
	HgDySubtable *subtable = &dy->table.subtables[number];
	const uint64_t slots = hg_dy_subtable_slots(dy, number) / 2;
	HgDySubtable half = *subtable;
	HgDyRoom<Word> left;

	HG_TRY(hg_dy_alloc_slots(dy, dy->log2[number] - 1, false, &half, error));
	HG_TRY(hg_cuda_alloc_array(work, slots, &left.words, error));
	HG_TRY(hg_cuda_alloc_array(work, slots, &left.rows, error));
	HG_CUDA_TRY(cudaMemsetAsync(&dy->state->left, 0, sizeof(uint32_t), work->stream), error);
	HG_TRY((hg_cuda_launch_pieces<hg_dy_halve_kernel<Slots>, HG_DY_THREADS>(
		work, "hg_dy_halve_kernel", slots, HG_DY_PIECE_SLOTS, error, *subtable, half, number,
		HG_PIECE_FIRST, HG_PIECE_END, left, dy->state)));
	HG_TRY(hg_dy_read_state(dy, error));
	hg_dy_free_slots(dy, subtable);
	*subtable = half;
	dy->log2[number]--;
	dy->base.totals.halved++;
	HG_TRY(insert_words<Slots>(dy, left.words, left.rows, dy->known.left, nullptr, error));
	hg_cuda_free(work, left.words);
	hg_cuda_free(work, left.rows);
	hg_dy_choose_thresholds(dy);
	return HG_OK;
}

template <typename Slots>
static HgStatus
insert_keys(HgCudaDycuckoo *dy, const HgSlotBatch *list, HgError *error)
{
	return insert_list<Slots, true>(dy, list, nullptr, error);
}

HgStatus
hg_dy_insert_keys(HgCudaDycuckoo *dy, const HgSlotBatch *list, HgError *error)
{
	return HG_DY_BY_SLOTS(&dy->base, insert_keys, dy, list, error);
}

/*
 * Halves the largest subtable, of those that may be, while the load is too low.  It ends when the
 * pairs that were left over have doubled another subtable.
 */
HgStatus
hg_dy_hold_least(HgCudaDycuckoo *dy, HgError *error)
{
	HgCudaTable *table = &dy->base;
	const uint64_t doubled = table->totals.doubled;
	const uint32_t none = table->spec.subtables;

	if (table->rows - (dy->erased < table->rows ? dy->erased : table->rows) >=
		hg_dy_least_rows(&table->spec, hg_dy_all_slots(dy)))
		return HG_OK;
	HG_TRY(hg_dy_know_rows(dy, error));
	while (table->rows < hg_dy_least_rows(&table->spec, hg_dy_all_slots(dy)) &&
		   table->totals.doubled == doubled)
	{
		uint32_t largest = none;

		for (uint32_t i = 0; i < none; i++)
			if (dy->log2[i] > dy->least_log2[i] &&
				(largest == none || dy->log2[i] > dy->log2[largest]))
				largest = i;
		if (largest == none)
			break;
		HG_TRY(HG_DY_BY_SLOTS(table, halve_subtable, dy, largest, error));
	}
	return HG_OK;
}

/* Upper bound on the rounding of all blocks. */
static constexpr uint64_t ROUNDING = 64 * 1024;

/* A batch smaller than one part in this of the slots is not checked for keys of the table. */
static constexpr uint64_t SMALL_BATCH = 8;

/* ------------------------------------------------------------------------
 * Life
 * ------------------------------------------------------------------------ */

static void
dycuckoo_memory(const HgTableSpec *spec, uint64_t rows, HgTableMemory *memory)
{
	const uint64_t piece = rows < HG_DY_PIECE_PAIRS ? rows : HG_DY_PIECE_PAIRS;
	uint32_t log2[HG_TABLE_MAX_SUBTABLES];
	uint64_t slots =
		hg_dy_choose_sizes(spec, rows > spec->expected_rows ? rows : spec->expected_rows, log2);
	uint64_t bytes;
	uint64_t scratch;

	/* a chain that was too long may have had one more doubled */
	slots += (uint64_t) hg_dy_bucket_slots(spec) << log2[0];
	bytes = hg_dy_slots_bytes(spec, slots) + ROUNDING;
	scratch = 2 * hg_dy_scratch_bytes(spec->key_width, piece) + rows * (spec->key_width + 4);
	memory->held += bytes;
	memory->build += 2 * bytes + scratch;
	memory->change += 2 * bytes + scratch;
}

static HgStatus
dycuckoo_open(HgCudaTable *table, HgError *error)
{
	HgCudaDycuckoo *dy = reinterpret_cast<HgCudaDycuckoo *>(table);

	dy->random = table->spec.seed;
	hg_dy_choose_sizes(&table->spec, table->spec.expected_rows, dy->log2);
	memcpy(dy->least_log2, dy->log2, sizeof(dy->log2));
	hg_dy_choose_functions(dy);
	HG_TRY(hg_cuda_alloc_array(&table->work, 1, &dy->state, error));
	HG_CUDA_TRY(cudaMemsetAsync(dy->state, 0, sizeof(HgDyState), table->work.stream), error);
	HG_CUDA_TRY(cudaMemsetAsync(&dy->state->odd_row, 0xff, sizeof(uint32_t), table->work.stream),
				error);
	dy->known.odd_row = HG_CUDA_EMPTY_ROW;
	HG_TRY(hg_dy_make_subtables(dy, error));
	hg_dy_choose_thresholds(dy);
	return HG_OK;
}

static void
dycuckoo_close(HgCudaTable *table)
{
	HgCudaDycuckoo *dy = reinterpret_cast<HgCudaDycuckoo *>(table);

	for (uint32_t i = 0; i < table->spec.subtables; i++)
		hg_dy_free_slots(dy, &dy->table.subtables[i]);
	hg_cuda_free(&table->work, dy->state);
	dy->state = nullptr;
}

/* ------------------------------------------------------------------------
 * Looking up
 * ------------------------------------------------------------------------ */

template <typename Slots, HgDyQuestion QUESTION>
static HgStatus
ask(HgCudaDycuckoo *dy, const void *keys, uint64_t count, const uint64_t *offsets,
	uint32_t *answers, HgError *error)
{
	return hg_cuda_launch_pieces<hg_dy_find_kernel<Slots, QUESTION>, HG_DY_THREADS>(
		&dy->base.work, "hg_dy_find_kernel", count, HG_DY_PIECE_KEYS, error, dy->table,
		static_cast<const typename Slots::Word *>(keys), HG_PIECE_FIRST, HG_PIECE_END, offsets,
		answers, dy->state);
}

template <typename Slots>
static HgStatus
find(HgCudaDycuckoo *dy, const void *keys, uint64_t count, uint32_t *rows, HgError *error)
{
	return ask<Slots, HG_DY_FIND>(dy, keys, count, nullptr, rows, error);
}

template <typename Slots>
static HgStatus
count_keys(HgCudaDycuckoo *dy, const void *keys, uint64_t count, uint32_t *counts, HgError *error)
{
	return ask<Slots, HG_DY_COUNT>(dy, keys, count, nullptr, counts, error);
}

template <typename Slots>
static HgStatus
match(HgCudaDycuckoo *dy, const void *keys, uint64_t count, const uint64_t *offsets, uint32_t *rows,
	  HgError *error)
{
	return ask<Slots, HG_DY_MATCH>(dy, keys, count, offsets, rows, error);
}

static HgStatus
dycuckoo_find(HgCudaTable *table, const void *keys, uint64_t count, uint32_t *rows, HgError *error)
{
	HgCudaDycuckoo *dy = reinterpret_cast<HgCudaDycuckoo *>(table);

	return HG_DY_BY_SLOTS(table, find, dy, keys, count, rows, error);
}

static HgStatus
dycuckoo_count(HgCudaTable *table, const void *keys, uint64_t count, uint32_t *counts,
			   HgError *error)
{
	HgCudaDycuckoo *dy = reinterpret_cast<HgCudaDycuckoo *>(table);

	return HG_DY_BY_SLOTS(table, count_keys, dy, keys, count, counts, error);
}

static HgStatus
dycuckoo_match(HgCudaTable *table, const void *keys, uint64_t count, const uint64_t *offsets,
			   uint32_t *rows, HgError *error)
{
	HgCudaDycuckoo *dy = reinterpret_cast<HgCudaDycuckoo *>(table);

	return HG_DY_BY_SLOTS(table, match, dy, keys, count, offsets, rows, error);
}

/* ------------------------------------------------------------------------
 * Changes
 * ------------------------------------------------------------------------ */

template <typename Slots>
static HgStatus
erase(HgCudaDycuckoo *dy, const HgCudaTableBatch *out, HgError *error)
{
	HgCudaTable *table = &dy->base;
	const bool by_key = out->by_key || !Slots::HAS_ROWS;

	HG_TRY(hg_slot_batch_in_pieces(
		table, out, HG_DY_PIECE_PAIRS, error,
		[&](const HgSlotBatch &piece)
		{
			return hg_cuda_launch<hg_dy_erase_kernel<Slots>>(
				table->work.stream, "hg_dy_erase_kernel",
				std::min(hg_blocks_for(piece.count, HG_DY_THREADS), HG_DY_CHANGE_BLOCKS),
				HG_DY_THREADS, error, dy->table, piece, by_key, dy->state);
		}));
	dy->erased += out->count;
	return HG_OK;
}

/* Counts the keys of a list that the table does not have, and makes room for them. */
template <typename Slots>
static HgStatus
make_room_for_new(HgCudaDycuckoo *dy, const HgSlotBatch *list, HgError *error)
{
	HgCudaTable *table = &dy->base;

	HG_CUDA_TRY(cudaMemsetAsync(&dy->state->absent, 0, sizeof(uint32_t), table->work.stream),
				error);
	HG_TRY((ask<Slots, HG_DY_ABSENT>(dy, list->keys, list->count, nullptr, nullptr, error)));
	HG_TRY(hg_dy_read_state(dy, error));
	while (table->rows + dy->known.absent > hg_dy_most_rows(&table->spec, hg_dy_all_slots(dy)))
		HG_TRY(hg_dy_double_smallest(dy, error));
	return HG_OK;
}

/* Makes room for the new keys of a list. */
template <typename Slots>
static HgStatus
make_room(HgCudaDycuckoo *dy, const HgSlotBatch *list, HgError *error)
{
	HgCudaTable *table = &dy->base;
	const HgTableSpec *spec = &table->spec;

	while (table->rows + list->count > hg_dy_most_rows(spec, hg_dy_all_slots(dy)))
	{
		const uint64_t slots = hg_dy_all_slots(dy);

		if (dy->erased > 0)
		{
			HG_TRY(hg_dy_know_rows(dy, error));
			continue;
		}
		/* the smallest subtable has at most its share of the slots */
		if (list->count > slots / SMALL_BATCH ||
			table->rows < hg_dy_least_rows(spec, slots + slots / spec->subtables))
			return make_room_for_new<Slots>(dy, list, error);
		HG_TRY(hg_dy_double_smallest(dy, error));
	}
	return HG_OK;
}

template <typename Slots>
static HgStatus
insert(HgCudaDycuckoo *dy, const HgCudaTableBatch *in, HgError *error)
{
	HgCudaTable *table = &dy->base;

	/* a first batch gets room for all of it */
	if (in->count > hg_dy_most_rows(&table->spec, hg_dy_all_slots(dy)))
	{
		HG_TRY(hg_dy_know_rows(dy, error));
		if (table->rows == 0)
		{
			hg_dy_choose_sizes(&table->spec, in->count, dy->log2);
			HG_TRY(hg_dy_make_subtables(dy, error));
		}
	}
	return hg_slot_batch_in_pieces(table, in, HG_DY_PIECE_PAIRS, error,
								   [&](const HgSlotBatch &piece)
								   {
									   HG_TRY(make_room<Slots>(dy, &piece, error));
									   return hg_dy_insert_keys(dy, &piece, error);
								   });
}

static HgStatus
dycuckoo_change(HgCudaTable *table, const HgCudaTableBatch *out, const HgCudaTableBatch *in,
				HgTableChange *change, HgError *error)
{
	HgCudaDycuckoo *dy = reinterpret_cast<HgCudaDycuckoo *>(table);
	uint64_t before;

	if (change != nullptr)
	{
		memset(change, 0, sizeof(*change));
		HG_TRY(hg_dy_know_rows(dy, error));
	}
	before = table->rows;
	if (out != nullptr && out->count > 0)
	{
		HG_TRY(HG_DY_BY_SLOTS(table, erase, dy, out, error));
		if (change != nullptr)
		{
			HG_TRY(hg_dy_know_rows(dy, error));
			change->erased = before - table->rows;
			before = table->rows;
		}
	}
	if (in != nullptr && in->count > 0)
	{
		HG_TRY(HG_DY_BY_SLOTS(table, insert, dy, in, error));
		if (change != nullptr)
			change->inserted = table->rows - before;
	}
	return hg_dy_hold_least(dy, error);
}

/* ------------------------------------------------------------------------
 * The whole table
 * ------------------------------------------------------------------------ */

template <typename Slots>
static HgStatus
export_pairs(HgCudaDycuckoo *dy, void *keys, uint32_t *rows, HgError *error)
{
	HgCudaWork *work = &dy->base.work;

	HG_TRY(hg_dy_export_slots(dy, true, keys, rows, error));
	if constexpr (Slots::APART)
		HG_TRY((hg_cuda_launch<hg_dy_export_odd_kernel<typename Slots::Word>>(
			work->stream, "hg_dy_export_odd_kernel", 1, 1, error,
			static_cast<typename Slots::Word *>(keys), rows, dy->state)));
	return HG_OK;
}

static HgStatus
dycuckoo_export(HgCudaTable *table, void *keys, uint32_t *rows, HgError *error)
{
	HgCudaDycuckoo *dy = reinterpret_cast<HgCudaDycuckoo *>(table);

	return HG_DY_BY_SLOTS(table, export_pairs, dy, keys, rows, error);
}

template <typename Slots>
static HgStatus
describe_buckets(HgCudaDycuckoo *dy, HgError *error)
{
	HgCudaWork *work = &dy->base.work;

	HG_CUDA_TRY(cudaMemsetAsync(&dy->state->empty_buckets, 0, 2 * sizeof(uint32_t), work->stream),
				error);
	for (uint32_t i = 0; i < dy->base.spec.subtables; i++)
	{
		HG_TRY((hg_cuda_launch_pieces<hg_dy_describe_kernel<Slots>, HG_DY_THREADS>(
			work, "hg_dy_describe_kernel", hg_dy_subtable_slots(dy, i), HG_DY_PIECE_SLOTS, error,
			dy->table.subtables[i], HG_PIECE_FIRST, HG_PIECE_END, dy->state)));
		HG_TRY(hg_cuda_pace(work, error));
	}
	return HG_OK;
}

static HgStatus
dycuckoo_describe(HgCudaTable *table, HgTableStats *stats, HgError *error)
{
	HgCudaDycuckoo *dy = reinterpret_cast<HgCudaDycuckoo *>(table);

	HG_TRY(HG_DY_BY_SLOTS(table, describe_buckets, dy, error));
	HG_TRY(hg_dy_read_state(dy, error));
	stats->slots = hg_dy_all_slots(dy);
	stats->lists = stats->slots / hg_dy_bucket_slots(&table->spec);
	stats->empty_lists = dy->known.empty_buckets;
	stats->longest_list = dy->known.fullest_bucket;
	return HG_OK;
}

const HgCudaTableCalls hg_cuda_table_dycuckoo = {
	sizeof(HgCudaDycuckoo), dycuckoo_memory, dycuckoo_open,	  dycuckoo_change,	 dycuckoo_find,
	dycuckoo_count,			dycuckoo_match,	 dycuckoo_export, dycuckoo_describe, dycuckoo_close,
};
