/*-------------------------------------------------------------------------
 *
 * hg_fault_server.c
 *	  Faults of PostgreSQL's functions, and the setting hashgraph.inject_fault.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/socket.h>

#include "access/tupdesc.h"
#include "lib/dshash.h"
#include "miscadmin.h"
#include "storage/buffile.h"
#include "storage/fd.h"
#include "utils/dsa.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/tuplestore.h"

#include "engine/wire/hg_wire_client.h"
#include "hg_fault.h"
#include "hg_guc.h"
#include "hg_watch.h"

HG_WRAPPED(void, hg_guc_init, (void) );
HG_WRAPPED(HgWireClient *, hg_wire_client_create, (int fd));
HG_WRAPPED(void, hg_wire_client_destroy, (HgWireClient * client));
HG_WRAPPED(void *, palloc, (Size size));
HG_WRAPPED(void *, palloc0, (Size size));
HG_WRAPPED(void *, palloc_extended, (Size size, int flags));
HG_WRAPPED(void *, repalloc, (void *pointer, Size size));
HG_WRAPPED(void *, repalloc_huge, (void *pointer, Size size));
HG_WRAPPED(void *, MemoryContextAlloc, (MemoryContext context, Size size));
HG_WRAPPED(void *, MemoryContextAllocZero, (MemoryContext context, Size size));
HG_WRAPPED_IN_SOME(void *, MemoryContextAllocZeroAligned, (MemoryContext context, Size size));
HG_WRAPPED(void *, MemoryContextAllocHuge, (MemoryContext context, Size size));
HG_WRAPPED(void *, MemoryContextAllocExtended, (MemoryContext context, Size size, int flags));
HG_WRAPPED(MemoryContext, AllocSetContextCreateInternal,
		   (MemoryContext parent, const char *name, Size min, Size initial, Size max));
HG_WRAPPED(List *, lappend, (List * list, void *datum));
HG_WRAPPED(List *, lcons, (void *datum, List *list));
HG_WRAPPED(void, RegisterResourceReleaseCallback, (ResourceReleaseCallback callback, void *arg));
HG_WRAPPED(bool, AcquireExternalFD, (void) );
HG_WRAPPED(BufFile *, BufFileCreateTemp, (bool between_transactions));
HG_WRAPPED(BufFile *, BufFileCreateFileSet, (FileSet * files, const char *name));
HG_WRAPPED(void, BufFileWrite, (BufFile * file, const void *from, size_t size));
HG_WRAPPED(int, BufFileSeek, (BufFile * file, int fileno, off_t offset, int whence));
HG_WRAPPED(size_t, BufFileRead, (BufFile * file, void *to, size_t size));
HG_WRAPPED_IN_SOME(void, BufFileReadExact, (BufFile * file, void *to, size_t size));
HG_WRAPPED_IN_SOME(size_t, BufFileReadMaybeEOF,
				   (BufFile * file, void *to, size_t size, bool may_be_eof));
HG_WRAPPED(BufFile *, BufFileOpenFileSet,
		   (FileSet * files, const char *name, int mode, bool missing_ok));
HG_WRAPPED(dsa_pointer, dsa_allocate_extended, (dsa_area * area, size_t size, int flags));
HG_WRAPPED_IN_SOME(void *, dshash_find_or_insert,
				   (dshash_table * table, const void *key, bool *found));
HG_WRAPPED(void, tuplestore_putvalues,
		   (Tuplestorestate * state, TupleDesc desc, const Datum *values, const bool *nulls));

/* ------------------------------------------------------------------------
 * The setting
 * ------------------------------------------------------------------------ */

static char *hg_inject_fault = NULL;

/* The socket to the device process, or -1. */
static int device_socket = -1;

HgWireClient *
__wrap_hg_wire_client_create(int fd)
{
	HgWireClient *client = __real_hg_wire_client_create(fd);

	device_socket = client != NULL ? fd : -1;
	return client;
}

void
__wrap_hg_wire_client_destroy(HgWireClient *client)
{
	device_socket = -1;
	__real_hg_wire_client_destroy(client);
}

static bool
check_inject_fault(char **value, void **extra pg_attribute_unused(),
				   GucSource source pg_attribute_unused())
{
	HgFaultPage page;

	if (**value == '\0' || hg_fault_parse(*value, &page))
		return true;
	GUC_check_errdetail("It is KIND:N or device_KIND:N.");
	return false;
}

static void
raise_cancel(void)
{
	QueryCancelPending = true;
	InterruptPending = true;
}

static void
assign_inject_fault(const char *value, void *extra pg_attribute_unused())
{
	HgFaultPage page;

	if (*value == '\0' || !hg_fault_parse(value, &page))
	{
		if (hg_fault_page != NULL)
			hg_fault_page->kind = HG_FAULT_NONE;
		return;
	}
	if (hg_fault_page == NULL)
	{
		/* a device process that runs already could not find the page: have it replaced */
		if (device_socket >= 0)
			shutdown(device_socket, SHUT_RDWR);
		hg_fault_cancel = raise_cancel;
		if (!hg_fault_make_page())
			return;
	}
	*hg_fault_page = page;
}

static const char *
show_inject_fault(void)
{
	static char text[80];

	if (hg_inject_fault == NULL || hg_inject_fault[0] == '\0' || hg_fault_page == NULL)
		return "";
	if (hg_fault_page->fired)
		snprintf(text, sizeof(text), "%s fired", hg_inject_fault);
	else
		snprintf(text, sizeof(text), "%s seen " UINT64_FORMAT, hg_inject_fault,
				 hg_fault_page->seen);
	return text;
}

void
__wrap_hg_guc_init(void)
{
	DefineCustomStringVariable(
		"hashgraph.inject_fault", "Makes something fail in this session or its device process.",
		"KIND:N or device_KIND:N: the N-th event of that kind from now on.", &hg_inject_fault, "",
		PGC_SUSET, GUC_NOT_IN_SAMPLE, check_inject_fault, assign_inject_fault, show_inject_fault);
	hg_watch_init();
	hg_fault_resident_init();
	hg_fault_at_once_init();
	__real_hg_guc_init();
}

/* ------------------------------------------------------------------------
 * Memory
 * ------------------------------------------------------------------------ */

static void
may_run_out(Size size)
{
	if (hg_fault_due(HG_FAULT_ALLOC))
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory"),
						errdetail("Failed on request of size %zu, on purpose.", size)));
}

/* The same where a NULL may be wanted instead of the error. */
static bool
runs_out(Size size, int flags)
{
	if ((flags & MCXT_ALLOC_NO_OOM) != 0)
		return hg_fault_due(HG_FAULT_ALLOC);
	may_run_out(size);
	return false;
}

void *
__wrap_palloc(Size size)
{
	may_run_out(size);
	return __real_palloc(size);
}

void *
__wrap_palloc0(Size size)
{
	may_run_out(size);
	return __real_palloc0(size);
}

void *
__wrap_palloc_extended(Size size, int flags)
{
	return runs_out(size, flags) ? NULL : __real_palloc_extended(size, flags);
}

void *
__wrap_repalloc(void *pointer, Size size)
{
	may_run_out(size);
	return __real_repalloc(pointer, size);
}

void *
__wrap_repalloc_huge(void *pointer, Size size)
{
	may_run_out(size);
	return __real_repalloc_huge(pointer, size);
}

void *
__wrap_MemoryContextAlloc(MemoryContext context, Size size)
{
	may_run_out(size);
	return __real_MemoryContextAlloc(context, size);
}

void *
__wrap_MemoryContextAllocZero(MemoryContext context, Size size)
{
	may_run_out(size);
	return __real_MemoryContextAllocZero(context, size);
}

void *
__wrap_MemoryContextAllocZeroAligned(MemoryContext context, Size size)
{
	may_run_out(size);
	return __real_MemoryContextAllocZeroAligned(context, size);
}

void *
__wrap_MemoryContextAllocHuge(MemoryContext context, Size size)
{
	may_run_out(size);
	return __real_MemoryContextAllocHuge(context, size);
}

void *
__wrap_MemoryContextAllocExtended(MemoryContext context, Size size, int flags)
{
	return runs_out(size, flags) ? NULL : __real_MemoryContextAllocExtended(context, size, flags);
}

MemoryContext
__wrap_AllocSetContextCreateInternal(MemoryContext parent, const char *name, Size min, Size initial,
									 Size max)
{
	may_run_out(initial);
	return __real_AllocSetContextCreateInternal(parent, name, min, initial, max);
}

/* It allocates an entry that it does not get from palloc() as we call it. */
void
__wrap_RegisterResourceReleaseCallback(ResourceReleaseCallback callback, void *arg)
{
	may_run_out(sizeof(callback) + sizeof(arg));
	__real_RegisterResourceReleaseCallback(callback, arg);
}

List *
__wrap_lappend(List *list, void *datum)
{
	may_run_out(sizeof(ListCell));
	return __real_lappend(list, datum);
}

List *
__wrap_lcons(void *datum, List *list)
{
	may_run_out(sizeof(ListCell));
	return __real_lcons(datum, list);
}

/* ------------------------------------------------------------------------
 * Files
 * ------------------------------------------------------------------------ */

bool
__wrap_AcquireExternalFD(void)
{
	return !hg_fault_due(HG_FAULT_SYSTEM) && __real_AcquireExternalFD();
}

static void
may_fill_disk(void)
{
	if (hg_fault_due(HG_FAULT_WRITE))
		ereport(ERROR, (errcode(ERRCODE_DISK_FULL),
						errmsg("could not write to a temporary file: no space, on purpose")));
}

static void
may_fail_to_read(void)
{
	if (hg_fault_due(HG_FAULT_READ))
		ereport(ERROR, (errcode(ERRCODE_IO_ERROR),
						errmsg("could not read from a temporary file, on purpose")));
}

BufFile *
__wrap_BufFileCreateTemp(bool between_transactions)
{
	may_fill_disk();
	return __real_BufFileCreateTemp(between_transactions);
}

BufFile *
__wrap_BufFileCreateFileSet(FileSet *files, const char *name)
{
	may_fill_disk();
	return __real_BufFileCreateFileSet(files, name);
}

void
__wrap_BufFileWrite(BufFile *file, const void *from, size_t size)
{
	may_fill_disk();
	__real_BufFileWrite(file, from, size);
}

void
__wrap_tuplestore_putvalues(Tuplestorestate *state, TupleDesc desc, const Datum *values,
							const bool *nulls)
{
	may_fill_disk();
	__real_tuplestore_putvalues(state, desc, values, nulls);
}

/* This one returns its failure. */
int
__wrap_BufFileSeek(BufFile *file, int fileno, off_t offset, int whence)
{
	if (hg_fault_due(HG_FAULT_READ))
	{
		errno = EIO;
		return EOF;
	}
	return __real_BufFileSeek(file, fileno, offset, whence);
}

size_t
__wrap_BufFileRead(BufFile *file, void *to, size_t size)
{
	may_fail_to_read();
	return __real_BufFileRead(file, to, size);
}

void
__wrap_BufFileReadExact(BufFile *file, void *to, size_t size)
{
	may_fail_to_read();
	__real_BufFileReadExact(file, to, size);
}

size_t
__wrap_BufFileReadMaybeEOF(BufFile *file, void *to, size_t size, bool may_be_eof)
{
	may_fail_to_read();
	return __real_BufFileReadMaybeEOF(file, to, size, may_be_eof);
}

BufFile *
__wrap_BufFileOpenFileSet(FileSet *files, const char *name, int mode, bool missing_ok)
{
	may_fail_to_read();
	return __real_BufFileOpenFileSet(files, name, mode, missing_ok);
}

/* ------------------------------------------------------------------------
 * Shared memory
 * ------------------------------------------------------------------------ */

/* An area may have no room, and the system none for a new segment, whatever the flags are. */
dsa_pointer
__wrap_dsa_allocate_extended(dsa_area *area, size_t size, int flags)
{
	may_fill_disk();
	if ((flags & DSA_ALLOC_NO_OOM) == 0)
		may_run_out(size);
	else if (hg_fault_due(HG_FAULT_ALLOC))
		return InvalidDsaPointer;
	return __real_dsa_allocate_extended(area, size, flags);
}

/* A new entry may find no room either: that is always an error. */
void *
__wrap_dshash_find_or_insert(dshash_table *table, const void *key, bool *found)
{
	if (hg_fault_due(HG_FAULT_ALLOC))
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY),
						errmsg("out of memory for a shared hash table, on purpose")));
	return __real_dshash_find_or_insert(table, key, found);
}
