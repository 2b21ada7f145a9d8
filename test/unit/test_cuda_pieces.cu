/*-------------------------------------------------------------------------
 *
 * test_cuda_pieces.cu
 *	  Pieces of a job's pages: whose they are, what they wait for, and the memory that they have.
 *	  It needs no device.
 *
 * The functions of the CUDA runtime that cuda/device calls are here, with memory of the host in
 * place of a device's, and those that copy pages.  An event is pending when a test says so.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "../../cuda/engine/hg_cuda_pieces.h"
#include "hg_no_kernels.h"
#include "hg_tap.h"

#include <cstdlib>
#include <cstring>

/* ------------------------------------------------------------------------
 * The runtime
 * ------------------------------------------------------------------------ */

static constexpr uint64_t MB = UINT64_C(1) << 20;
static constexpr uint64_t TOTAL = 8192 * MB;
static constexpr int EVENTS = 1024;

static bool pending[EVENTS]; /* by event, whose handle is its number, from 1 */
static int events;
static int waits;		   /* of streams for events */
static bool no_streams;	   /* none can be had */
static int allocated;	   /* blocks */
static HgStatus copy_says; /* what comes of copying pages */

extern "C" cudaError_t
cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
	*event = reinterpret_cast<cudaEvent_t>((uintptr_t) ++events);
	pending[events] = false;
	return cudaSuccess;
}

extern "C" cudaError_t
cudaEventCreate(cudaEvent_t *event)
{
	return cudaEventCreateWithFlags(event, 0);
}

extern "C" cudaError_t
cudaEventQuery(cudaEvent_t event)
{
	return pending[reinterpret_cast<uintptr_t>(event)] ? cudaErrorNotReady : cudaSuccess;
}

extern "C" cudaError_t
cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned)
{
	waits++;
	return cudaSuccess;
}

extern "C" cudaError_t
cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
	*stream = reinterpret_cast<cudaStream_t>(1);
	return no_streams ? cudaErrorUnknown : cudaSuccess;
}

extern "C" cudaError_t
cudaMallocFromPoolAsync(void **memory, size_t, cudaMemPool_t, cudaStream_t)
{
	*memory = malloc(1);
	allocated++;
	return cudaSuccess;
}

extern "C" cudaError_t
cudaFreeAsync(void *memory, cudaStream_t)
{
	free(memory);
	allocated--;
	return cudaSuccess;
}

extern "C" cudaError_t
cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *)
{
	*pool = reinterpret_cast<cudaMemPool_t>(1);
	return cudaSuccess;
}

extern "C" cudaError_t
cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *value)
{
	*static_cast<uint64_t *>(value) = 0;
	return cudaSuccess;
}

extern "C" cudaError_t
cudaMemGetInfo(size_t *available, size_t *total)
{
	*available = *total = TOTAL;
	return cudaSuccess;
}

extern "C" cudaError_t
cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
	*value = attribute == cudaDevAttrMemoryPoolsSupported ? 1 : 49152;
	return cudaSuccess;
}

/* A call that has nothing to do here. */
#define HG_NOTHING(name, parameters)                                                               \
	extern "C" cudaError_t name parameters                                                         \
	{                                                                                              \
		return cudaSuccess;                                                                        \
	}

HG_NOTHING(cudaEventDestroy, (cudaEvent_t))
HG_NOTHING(cudaEventRecord, (cudaEvent_t, cudaStream_t))
HG_NOTHING(cudaFree, (void *) )
HG_NOTHING(cudaFreeHost, (void *) )
HG_NOTHING(cudaFuncGetAttributes, (cudaFuncAttributes *, const void *) )
HG_NOTHING(cudaFuncSetAttribute, (const void *, cudaFuncAttribute, int) )
HG_NOTHING(cudaGetLastError, ())
HG_NOTHING(cudaMalloc, (void **, size_t))
HG_NOTHING(cudaMallocHost, (void **, size_t))
HG_NOTHING(cudaMemPoolDestroy, (cudaMemPool_t))
HG_NOTHING(cudaMemPoolSetAttribute, (cudaMemPool_t, cudaMemPoolAttr, void *) )
HG_NOTHING(cudaMemPoolTrimTo, (cudaMemPool_t, size_t))
HG_NOTHING(cudaMemcpyAsync, (void *, const void *, size_t, cudaMemcpyKind, cudaStream_t))
HG_NOTHING(cudaSetDevice, (int) )
HG_NOTHING(cudaStreamDestroy, (cudaStream_t))
HG_NOTHING(cudaStreamQuery, (cudaStream_t))
HG_NOTHING(cudaStreamSynchronize, (cudaStream_t))

extern "C" const char *
cudaGetErrorString(cudaError_t)
{
	return "it failed";
}

/* ------------------------------------------------------------------------
 * Pages
 * ------------------------------------------------------------------------ */

uint64_t
hg_cuda_pages_bytes(const HgJobSpec *, uint64_t room)
{
	return room;
}

HgStatus
hg_cuda_pages_open(HgCudaWork *work, const HgJobSpec *, uint64_t room, HgCudaPages *pages,
				   HgError *error)
{
	memset(pages, 0, sizeof(*pages));
	HG_TRY(hg_cuda_alloc_array(work, room, &pages->pages, error));
	pages->room = room;
	return HG_OK;
}

HgStatus
hg_cuda_pages_count(HgCudaWork *, HgCudaPages *pages, const HgJobSpec *, HgSide side, const void *,
					uint32_t count, HgError *)
{
	pages->side = side;
	pages->count = count;
	return copy_says;
}

void
hg_cuda_pages_close(HgCudaWork *work, HgCudaPages *pages)
{
	hg_cuda_free(work, pages->pages);
	memset(pages, 0, sizeof(*pages));
}

/* ------------------------------------------------------------------------
 * Tests
 * ------------------------------------------------------------------------ */

static HgCudaDevice device;
static HgCudaPieces *pieces;
static HgPageSpec page_spec;
static HgJobSpec spec;
static HgHost host;

/* A job that needs 100 MB, on a device with a budget. */
static uint64_t
start(uint64_t budget, uint64_t participants_id, uint64_t limit)
{
	uint64_t reserved;

	if (hg_cuda_device_open(&device, 0, budget, nullptr) != HG_OK)
		hg_tap_ok(false, "the device is opened");
	pieces = static_cast<HgCudaPieces *>(calloc(1, sizeof(*pieces)));
	page_spec.page_size = 8192;
	spec = {};
	spec.participants_id = participants_id;
	spec.memory_limit = limit;
	for (HgJobSide &side : spec.sides)
	{
		side.kind = HG_SOURCE_PAGES;
		side.pages = &page_spec;
	}
	hg_cuda_pieces_open(pieces, &device, &spec, 100 * MB, &reserved);
	copy_says = HG_OK;
	waits = 0;
	return reserved;
}

/* Is nothing left of it, on the device or else? */
static bool
stop()
{
	uint64_t budget;
	uint64_t held;
	uint64_t peak;

	hg_cuda_pieces_close(pieces);
	free(pieces);
	hg_cuda_device_use(&device, &budget, &held, &peak);
	hg_cuda_device_promise(&device, device.promised, 0);
	hg_cuda_device_close(&device);
	return held == 0 && allocated == 0;
}

/* A piece with so many pages; NULL where there is none. */
static HgCudaPiece *
bring(uint64_t pages)
{
	HgCudaPiece *piece;

	return hg_cuda_pieces_bring(pieces, &host, HG_OUTER, nullptr, pages, &piece, nullptr) == HG_OK
			   ? piece
			   : nullptr;
}

/* Give a piece back out of which rows are being written. */
static void
release_pending(HgCudaPiece *piece)
{
	hg_cuda_pieces_follow(piece, nullptr, nullptr);
	pending[reinterpret_cast<uintptr_t>(piece->work.kit.paces[0])] = true;
	hg_cuda_pieces_release(pieces, piece);
}

static void
end_writing(const HgCudaPiece *piece)
{
	pending[reinterpret_cast<uintptr_t>(piece->work.kit.paces[0])] = false;
}

static void
test_turns()
{
	HgCudaPiece *one;
	HgCudaPiece *two;

	start(TOTAL, 0, 0);
	one = bring(512);
	hg_cuda_pieces_release(pieces, one);
	hg_tap_ok(one != nullptr && bring(512) == one, "a piece that nobody uses is the next one's");
	release_pending(one);
	two = bring(512);
	hg_tap_ok(two != nullptr && two != one && waits == 1,
			  "... but there is another where rows are still to be written out of it");
	hg_tap_ok(bring(512) == one && bring(512) == nullptr,
			  "... or, where there may be no other, the one that has been idle for longest");
	release_pending(two);
	release_pending(one);
	end_writing(one);
	end_writing(two);
	hg_tap_ok(bring(512) == two && bring(512) == one, "they are taken in turns");
	hg_cuda_pieces_release(pieces, one);
	hg_cuda_pieces_release(pieces, two);
	hg_tap_ok(bring(2000) == nullptr && bring(0) == nullptr && bring(1024) == one &&
				  one->pages.room == 8 * MB,
			  "a piece grows with what it is for, to as much as a piece can have");
	hg_cuda_pieces_release(pieces, one);
	hg_tap_ok(stop(), "and all of it goes");
}

static void
test_yield()
{
	HgCudaPiece *one;
	HgCudaPiece *two;

	start(TOTAL, 0, 0);
	one = bring(512);
	two = bring(512);
	hg_cuda_pieces_release(pieces, one);
	hg_cuda_pieces_yield(pieces);
	hg_tap_ok(two != nullptr && allocated == 1 && bring(512) == nullptr,
			  "idle pieces make room for the job, and are not made again");
	hg_cuda_pieces_release(pieces, two);
	hg_tap_ok(bring(512) == two, "but others stay");
	hg_cuda_pieces_release(pieces, two);
	hg_tap_ok(stop(), "until the job is closed");
}

static void
test_participant_counts()
{
	HgCudaPiece *taken[HG_PIECES + 1];
	int count = 0;
	double used_ms;
	uint64_t peak;

	start(TOTAL, 1, 0);
	while (count <= HG_PIECES && (taken[count] = bring(512)) != nullptr)
		count++;
	/* blocks are a bit larger than what is asked for */
	hg_cuda_pieces_use(pieces, &used_ms, &peak);
	hg_tap_ok(count == HG_PIECES - 1 && peak <= HG_PIECES_BYTES && taken[0]->work.spin_ms == 0,
			  "a shared job has pieces of this size: %d", count);
	hg_cuda_pieces_end(pieces);
	hg_tap_ok(bring(512) == nullptr, "no one gets any more in the end");
	for (int i = 0; i < count; i++)
		hg_cuda_pieces_release(pieces, taken[i]);
	hg_tap_ok(pieces->held == 0 && allocated == 0, "and what is given back then goes");
	hg_tap_ok(stop(), "nothing is left of it");
}

static void
test_memory()
{
	HgCudaPiece *piece;
	uint64_t reserved;

	/* a job was opened for 100 MB */
	start(110 * MB, 1, 0);
	hg_cuda_device_promise(&device, 0, 100 * MB);
	piece = bring(1024);
	hg_tap_ok(piece != nullptr && bring(1024) == nullptr,
			  "pieces leave jobs what they were promised");
	hg_cuda_pieces_release(pieces, piece);
	hg_tap_ok(bring(1024) == piece && bring(512) == nullptr, "and are none but those that fit");
	hg_cuda_pieces_release(pieces, piece);
	hg_tap_ok(stop(), "nothing is left of it");

	start(TOTAL, 1, 0);
	hg_cuda_device_promise(&device, 0, TOTAL);
	hg_tap_ok(bring(1) == nullptr && stop(), "where there is no memory there is no piece");

	reserved = start(TOTAL, 0, 148 * MB);
	piece = bring(1024);
	hg_tap_ok(reserved == 12 * MB && piece != nullptr && bring(1024) == nullptr,
			  "of a job's limit they have a part of what it does not need");
	hg_cuda_pieces_release(pieces, piece);
	hg_tap_ok(stop(), "nothing is left of it");
	reserved = start(TOTAL, 0, 100 * MB);
	hg_tap_ok(reserved == 0 && bring(1) == nullptr && stop(), "or none of it");
}

static void
test_failures()
{
	HgCudaPiece *piece;

	start(TOTAL, 1, 0);
	no_streams = true;
	hg_tap_ok(hg_cuda_pieces_bring(pieces, &host, HG_OUTER, nullptr, 512, &piece, nullptr) ==
				  HG_DEVICE_FAILED,
			  "a stream that can't be had fails who brings pages");
	no_streams = false;
	hg_tap_ok(stop(), "and leaves nothing");

	start(TOTAL, 1, 0);
	copy_says = HG_CANCELLED;
	hg_tap_ok(hg_cuda_pieces_bring(pieces, &host, HG_OUTER, nullptr, 512, &piece, nullptr) ==
					  HG_CANCELLED &&
				  piece == nullptr,
			  "who brings pages can be cancelled");
	copy_says = HG_OK;
	piece = bring(512);
	hg_tap_ok(piece == &pieces->pieces[HG_PIECES - 1] && pieces->users == 1,
			  "and the next one gets his piece");
	hg_cuda_pieces_release(pieces, piece);
	hg_tap_ok(stop(), "nothing is left of it");
}

int
main()
{
	test_turns();
	test_yield();
	test_participant_counts();
	test_memory();
	test_failures();
	return hg_tap_done();
}
