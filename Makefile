# hashgraph: build, install and test with PGXS.
#
#   make                 hashgraph.so, and hashgraph_device where CUDA is found
#   make install         into the PostgreSQL that PG_CONFIG belongs to
#   make installcheck    pg_regress and isolation tests against a running server, and
#                        the TAP tests where Perl has IPC::Run
#   make unit            tests of the engine alone, no server (SANITIZE=1: with ASan and UBSan);
#                        the CUDA engine's tests are built and run too where CUDA is found
#   make lint            rules of the source tree and of the documents
#   make docs            a static site of README.md and docs/, in docs/site/build; its links are checked
#   make dist            hashgraph-VERSION.zip of what is committed, as PGXN takes it (DIST_DIR=...: where to)
#   make bench           measure joins on a running server (test/bench/run); BENCH_OPTIONS=... are its
#                        options
#
#   PG_CONFIG=...        the PostgreSQL to build for (default: pg_config in PATH)
#   WITH_CUDA=auto|yes|no, CUDA_HOME=..., CUDA_ARCH=...    see cuda/cuda.mk
#   HG_DEBUG=1           with assertions and with faults to be injected (test/fault): a switch
#                        of ours, because the servers of distributions have no assertions and
#                        one that has them is no reason to let users break their joins
#
# Building happens in the source tree; ./quickstart works in a copy.

PG_CONFIG ?= pg_config

MODULE_big = hashgraph
EXTENSION = hashgraph
PGFILEDESC = "hashgraph - faster large joins for PostgreSQL, on the CPU or an NVIDIA GPU"
DATA = $(wildcard sql/hashgraph--*.sql)

# src/ is the library; cuda/ is the program hashgraph_device and never linked here.
OBJS = $(patsubst %.c,%.o,$(sort $(wildcard src/*.c src/*/*.c src/*/*/*.c)))

# Our functions call each other at once, and not by way of the dynamic linker's table.
SHLIB_LINK += -Wl,-Bsymbolic-functions

# Faults stand between our objects and what they call; src/ knows nothing of them.
FAULT_OBJS = test/fault/hg_fault.o test/fault/hg_fault_server.o test/fault/hg_fault_resident.o \
	test/fault/hg_fault_at_once.o test/fault/hg_fault_cleanup.o test/fault/hg_watch.o
ifeq ($(HG_DEBUG),1)
OBJS += $(FAULT_OBJS)
SHLIB_LINK += $(shell test/fault/hg_fault_wraps $(FAULT_OBJS:.o=.c))
endif

HG_VERSION := $(shell sed -n "s/^default_version *= *'\(.*\)'.*/\1/p" hashgraph.control)

# Headers are tracked: each object leaves a list of what it read beside itself.
PG_CPPFLAGS = -Isrc -MMD -MP -DHG_VERSION='"$(HG_VERSION)"'
PG_CFLAGS = -std=gnu11 -Wextra -Wno-unused-parameter -Wno-sign-compare \
	-Wno-missing-field-initializers -Wno-declaration-after-statement \
	-Werror=implicit-function-declaration

ifeq ($(HG_DEBUG),1)
PG_CPPFLAGS += -DUSE_ASSERT_CHECKING
# the linker must see who calls whom
PG_CFLAGS += -fno-lto
endif

# Bitcode would let PostgreSQL inline our functions into JIT-compiled expressions: none of
# them is called from there, and without it no clang is needed.
override with_llvm = no

# The topics of sql/ are tests, but for the scripts that install the extension.
REGRESS := $(filter-out hashgraph--%,$(basename $(notdir $(sort $(wildcard sql/*.sql)))))
REGRESS_OPTS = --load-extension=hashgraph --encoding=UTF8
ISOLATION := $(basename $(notdir $(sort $(wildcard test/isolation/specs/*.spec))))
ISOLATION_OPTS = --inputdir=test/isolation --load-extension=hashgraph --encoding=UTF8
ifneq ($(and $(wildcard test/t/*.pl),$(shell perl -MIPC::Run -e 'print 1' 2>/dev/null)),)
TAP_TESTS := 1
PROVE_TESTS = test/t/*.pl
endif

EXTRA_CLEAN = $(FAULT_OBJS) $(sort $(OBJS:.o=.d) $(FAULT_OBJS:.o=.d)) .cuda_release .hg_debug

PGXS := $(shell $(PG_CONFIG) --pgxs)
ifeq ($(PGXS),)
$(error $(PG_CONFIG) was not found: install PostgreSQL's server development package (Debian and \
Ubuntu: postgresql-server-dev-NN) or say PG_CONFIG=/path/to/pg_config)
endif
include cuda/cuda.mk
ifeq ($(CUDA_FOUND),yes)
# hashgraph_version() says what hashgraph_device was built with.
CUDA_RELEASE := $(shell $(NVCC) --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
PG_CPPFLAGS += -DHG_CUDA_BUILD='"$(CUDA_RELEASE)"'
endif
include $(PGXS)
-include $(OBJS:.o=.d)

.DEFAULT_GOAL := all

# Compile again what speaks of the version when that has changed.
src/hashgraph.o src/backend/hg_library.o src/sql/hg_sql_preload.o src/sql/hg_sql_devices.o: hashgraph.control

# Compile again what speaks of CUDA when the choice of CUDA has changed.
src/sql/hg_sql_devices.o: .cuda_release
.cuda_release: FORCE
	@echo '$(CUDA_RELEASE)' | cmp -s - $@ || echo '$(CUDA_RELEASE)' >$@

# Compile everything of ours again when the choice of HG_DEBUG has changed.
$(OBJS) hashgraph_device: .hg_debug
.hg_debug: FORCE
	@echo '$(HG_DEBUG)' | cmp -s - $@ || echo '$(HG_DEBUG)' >$@

.PHONY: FORCE
FORCE:

ifeq ($(CUDA_FOUND),yes)
install: install-device
endif

.PHONY: install-device
install-device: all
	$(MKDIR_P) '$(DESTDIR)$(bindir)'
	$(INSTALL_PROGRAM) hashgraph_device '$(DESTDIR)$(bindir)/'

uninstall: uninstall-device

.PHONY: uninstall-device
uninstall-device:
	rm -f '$(DESTDIR)$(bindir)/hashgraph_device'

# Every session of the tests loads the library, however the server is set up.  The tests
# connect as a superuser, whom PostgreSQL allows this.
installcheck: export PGOPTIONS := -c session_preload_libraries=hashgraph $(PGOPTIONS)

.PHONY: unit lint docs dist bench

unit:
	$(MAKE) -C test/unit check

lint: all
	perl test/lint/hg_lint_selftest.pl
	perl test/lint/hg_lint.pl
	perl test/lint/hg_build_check.pl
	perl test/lint/hg_prose_selftest.pl
	perl test/lint/hg_prose.pl

docs:
	docs/site/make_site

DIST_DIR ?= .

dist:
	git archive --format=zip --prefix=hashgraph-$(HG_VERSION)/ \
		--output='$(DIST_DIR)/hashgraph-$(HG_VERSION).zip' HEAD

bench: export PGOPTIONS := -c session_preload_libraries=hashgraph $(PGOPTIONS)
bench:
	test/bench/run $(BENCH_OPTIONS)

clean: clean-tests

.PHONY: clean-tests
clean-tests:
	rm -rf test/unit/build test/bench/build docs/site/build
