# Building hashgraph_device, the program that joins on NVIDIA GPUs.
#
#   WITH_CUDA=auto|yes|no   auto (the default): where nvcc is found
#   CUDA_HOME=...           where CUDA is (default: that of nvcc in PATH, else /usr/local/cuda)
#   CUDA_ARCH=...           the devices to build for, as nvcc names them, e.g. sm_90 or
#                           "sm_80 sm_90" (default: all that nvcc knows from sm_70 on)
#   COPT=...                more flags for the C compiler, as PGXS takes them
#
# For the newest of the devices there is PTX as well, which runs on newer ones: without the
# suffix of a name like sm_90a or sm_100f, whose features newer ones need not have.  A
# makefile that includes this one gets the choice in CUDA_FOUND (yes or no), the objects
# in CUDA_OBJS, and says how to compile a .cu file with CUDA_COMPILE.

WITH_CUDA ?= auto
CUDA_DIR := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
CUDA_TOP := $(CUDA_DIR)/..
ifeq ($(CUDA_DIR),cuda)
CUDA_TOP := .
endif

ifeq ($(filter auto yes no,$(WITH_CUDA)),)
$(error WITH_CUDA is auto, yes or no, not "$(WITH_CUDA)")
endif

CUDA_FOUND := no
ifneq ($(WITH_CUDA),no)
CUDA_HOME ?= $(or $(patsubst %/bin/nvcc,%,$(realpath $(shell command -v nvcc 2>/dev/null))),/usr/local/cuda)
NVCC := $(wildcard $(CUDA_HOME)/bin/nvcc)
ifneq ($(NVCC),)
CUDA_FOUND := yes
else ifeq ($(WITH_CUDA),yes)
$(error nvcc was not found in $(CUDA_HOME)/bin: install the CUDA toolkit, 11.8 or newer (Debian \
and Ubuntu: nvidia-cuda-toolkit, or NVIDIA's cuda-toolkit), or say CUDA_HOME=/path/to/cuda)
endif
endif

CUDA_ENGINE_OBJS = $(patsubst %.cu,%.o,$(sort $(wildcard $(CUDA_DIR)/*/hg_cuda_*.cu)))
CUDA_PROCESS_OBJS = $(patsubst %.c,%.o,$(sort $(wildcard $(CUDA_DIR)/server/hg_*.c)))
CUDA_SHARED_OBJS = $(patsubst $(CUDA_TOP)/src/engine/%.c,$(CUDA_DIR)/engine_%.o, \
	$(addprefix $(CUDA_TOP)/src/engine/,hg_computed.c hg_engine.c hg_exchange.c hg_replica.c hg_peer_window.c hg_pages.c hg_reduce.c hg_row_filter.c hg_shape.c \
	hg_table.c hg_table_measure.c)) $(CUDA_DIR)/engine_hg_wire.o
# the CPU engine, which the device is compared with
CUDA_CPU_OBJS = $(CUDA_DIR)/engine_hg_costs.o $(CUDA_DIR)/engine_hg_features.o $(CUDA_DIR)/engine_hg_host_job.o $(patsubst $(CUDA_TOP)/src/engine/cpu/%.c, \
	$(CUDA_DIR)/engine_cpu_%.o,$(sort $(wildcard $(CUDA_TOP)/src/engine/cpu/*.c)))
CUDA_OBJS = $(CUDA_ENGINE_OBJS) $(CUDA_PROCESS_OBJS) $(CUDA_SHARED_OBJS) $(CUDA_CPU_OBJS)

# faults to be injected (HG_DEBUG=1), which stand between these objects and what they call
ifeq ($(HG_DEBUG),1)
CUDA_FAULTS = $(addprefix $(CUDA_TOP)/test/fault/,hg_fault.c hg_fault_cuda.c)
CUDA_FAULT_OBJS = $(CUDA_DIR)/fault_hg_fault.o $(CUDA_DIR)/fault_hg_fault_cuda.o
CUDA_FAULT_FLAGS = $(subst -Wl,-Xlinker,$(shell \
	$(CUDA_TOP)/test/fault/hg_fault_wraps $(CUDA_FAULTS) | tr ',' ' '))
endif

# the unit tests of the CUDA engine, which skip themselves where there is no device
CUDA_TEST_DIR = $(CUDA_TOP)/test/unit
CUDA_TEST_BUILD = $(CUDA_TEST_DIR)/build/cuda
CUDA_TEST_SHARED_OBJS = $(patsubst $(CUDA_TOP)/src/engine/%.c,$(CUDA_DIR)/engine_%.o, \
	$(sort $(wildcard $(CUDA_TOP)/src/engine/hg_passes*.c $(CUDA_TOP)/src/engine/hg_partitioning.c $(CUDA_TOP)/src/engine/hg_sharded*.c)))
CUDA_TEST_OBJS = $(addprefix $(CUDA_TEST_BUILD)/,test_engine_cuda.o test_cuda_bins.o test_cuda_chunks.o \
	test_cuda_exchange.o test_cuda_replica.o test_cuda_lookups.o test_cuda_pages.o test_cuda_sharded.o hg_tap.o test_columns.o \
	test_data.o test_host.o test_engine_cancel.o test_engine_crowd.o test_engine_replica.o test_engine_computed.o test_engine_filters.o test_engine_filter_numbers.o test_engine_reduce.o \
	test_engine_run.o test_engine_suite.o test_replica_side.o test_measure.o test_finished.o hg_host_reduce.o \
	hg_host_column.o test_engine_replica_columns.o test_engine_replica_lookups.o test_engine_brought.o test_engine_pages.o test_replica_groups.o test_replica_star.o \
	test_pages.o)
CUDA_TABLE_TEST_OBJS = $(addprefix $(CUDA_TEST_BUILD)/,test_table_cuda.o test_table_suite.o \
	test_table_run.o hg_naive_table.o hg_tap.o test_data.o test_host.o)
# ... and of what it asks of the CUDA runtime, which need none
CUDA_WORK_TEST_OBJS = $(addprefix $(CUDA_TEST_BUILD)/,test_cuda_work.o hg_tap.o) \
	$(addprefix $(CUDA_DIR)/,device/hg_cuda_launch.o device/hg_cuda_device.o \
	device/hg_cuda_work.o engine_hg_engine.o)

# ... and of its memory, which need none
CUDA_MEMORY_TEST_OBJS = $(addprefix $(CUDA_TEST_BUILD)/,test_cuda_memory.o hg_tap.o) \
	$(addprefix $(CUDA_DIR)/,device/hg_cuda_launch.o device/hg_cuda_device.o \
	device/hg_cuda_work.o engine_hg_engine.o)

# ... and of its streams of matches, which need none
CUDA_STREAM_TEST_OBJS = $(addprefix $(CUDA_TEST_BUILD)/,test_cuda_stream.o hg_tap.o) \
	$(addprefix $(CUDA_DIR)/,device/hg_cuda_launch.o device/hg_cuda_device.o \
	device/hg_cuda_work.o engine/hg_cuda_stream.o engine_hg_engine.o)

# ... and of pages on their way, which need none
CUDA_PIECES_TEST_OBJS = $(addprefix $(CUDA_TEST_BUILD)/,test_cuda_pieces.o hg_tap.o) \
	$(addprefix $(CUDA_DIR)/,device/hg_cuda_launch.o device/hg_cuda_device.o \
	device/hg_cuda_work.o engine/hg_cuda_pieces.o engine_hg_engine.o)

.PHONY: clean-cuda
clean-cuda:
	rm -rf $(CUDA_TEST_BUILD)
	rm -f $(CUDA_TOP)/hashgraph_device $(CUDA_OBJS) $(CUDA_OBJS:.o=.d) \
		$(CUDA_DIR)/fault_*.[do] \
		$(CUDA_TEST_SHARED_OBJS) $(CUDA_TEST_SHARED_OBJS:.o=.d)
clean: clean-cuda

ifeq ($(CUDA_FOUND),yes)

CUDA_KNOWN := $(filter-out sm_3% sm_5% sm_6%,$(shell $(NVCC) --list-gpu-code 2>/dev/null))
CUDA_ARCH ?= $(CUDA_KNOWN)
CUDA_NUMBERS := $(shell for a in $(patsubst sm_%,%,$(CUDA_ARCH)); do echo $$a; done | sort -n)
CUDA_NEWEST := $(shell echo $(lastword $(CUDA_NUMBERS)) | tr -d a-z)
CUDA_GENCODE = $(foreach n,$(CUDA_NUMBERS),-gencode arch=compute_$(n),code=sm_$(n)) \
	-gencode arch=compute_$(CUDA_NEWEST),code=compute_$(CUDA_NEWEST)

# hashgraph.control knows the version
CUDA_VERSION_FLAG = -DHG_VERSION='"$(shell sed -n \
	"s/^default_version *= *'\(.*\)'.*/\1/p" $(CUDA_TOP)/hashgraph.control 2>/dev/null)"'
CUDA_CFLAGS = -std=gnu11 -O2 -g -Wall -Wextra -MMD -MP $(CUDA_VERSION_FLAG) $(COPT)
NVCCFLAGS = -std=c++17 -O3 --threads 0 -Xcompiler -Wall,-Wextra -lineinfo $(addprefix -Xcompiler ,$(COPT))
CUDA_COMPILE = $(NVCC) $(NVCCFLAGS) $(CUDA_GENCODE) -MD

$(info CUDA: $(CUDA_HOME), for $(addprefix sm_,$(CUDA_NUMBERS)) and PTX of the newest)

all: $(CUDA_TOP)/hashgraph_device

# linked statically, but for libc: the program must start where there is no CUDA
$(CUDA_TOP)/hashgraph_device: $(CUDA_OBJS) $(CUDA_FAULT_OBJS)
	$(NVCC) $(CUDA_GENCODE) -cudart static $(CUDA_FAULT_FLAGS) \
		-Xcompiler -static-libstdc++ -Xcompiler -static-libgcc -Xcompiler -pthread -o $@ $(CUDA_OBJS) $(CUDA_FAULT_OBJS)

$(CUDA_ENGINE_OBJS): %.o: %.cu
	$(CUDA_COMPILE) -MF $*.d -c $< -o $@

$(CUDA_PROCESS_OBJS): %.o: %.c
	$(CC) $(CUDA_CFLAGS) -c $< -o $@

$(CUDA_DIR)/fault_%.o: $(CUDA_TOP)/test/fault/%.c
	$(CC) $(CUDA_CFLAGS) -I$(CUDA_HOME)/include -c $< -o $@

$(CUDA_DIR)/engine_hg_wire.o: $(CUDA_TOP)/src/engine/wire/hg_wire.c
	$(CC) $(CUDA_CFLAGS) -c $< -o $@

$(CUDA_DIR)/engine_cpu_%.o: $(CUDA_TOP)/src/engine/cpu/%.c
	$(CC) $(CUDA_CFLAGS) -c $< -o $@

$(CUDA_DIR)/engine_%.o: $(CUDA_TOP)/src/engine/%.c
	$(CC) $(CUDA_CFLAGS) -c $< -o $@

$(CUDA_TEST_BUILD)/%.o: $(CUDA_TEST_DIR)/%.c
	@mkdir -p $(@D)
	$(CC) $(CUDA_CFLAGS) -I$(CUDA_HOME)/include -c $< -o $@

$(CUDA_TEST_BUILD)/test_cuda_exchange.o: $(CUDA_TEST_DIR)/test_cuda_exchange.cu
	@mkdir -p $(@D)
	$(CUDA_COMPILE) -MF $(@:.o=.d) -c $< -o $@

# what stands in for the runtime can be host code alone
$(CUDA_TEST_BUILD)/test_cuda_work.o: $(CUDA_TEST_DIR)/test_cuda_work.cu
	@mkdir -p $(@D)
	$(NVCC) $(NVCCFLAGS) -x c++ -MD -MF $(@:.o=.d) -c $< -o $@

$(CUDA_TEST_BUILD)/test_cuda_work: $(CUDA_WORK_TEST_OBJS)
	$(NVCC) -cudart none -Xcompiler -pthread $(addprefix -Xlinker --wrap=,hg_clock_ms usleep) -o $@ $^
$(CUDA_TEST_BUILD)/test_cuda_memory.o: $(CUDA_TEST_DIR)/test_cuda_memory.cu
	@mkdir -p $(@D)
	$(NVCC) $(NVCCFLAGS) -x c++ -MD -MF $(@:.o=.d) -c $< -o $@

$(CUDA_TEST_BUILD)/test_cuda_memory: $(CUDA_MEMORY_TEST_OBJS)
	$(NVCC) -cudart none -Xcompiler -pthread -Xlinker --wrap=hg_clock_ms -o $@ $^

$(CUDA_TEST_BUILD)/test_cuda_stream.o: $(CUDA_TEST_DIR)/test_cuda_stream.cu
	@mkdir -p $(@D)
	$(NVCC) $(NVCCFLAGS) -x c++ -MD -MF $(@:.o=.d) -c $< -o $@

$(CUDA_TEST_BUILD)/test_cuda_stream: $(CUDA_STREAM_TEST_OBJS)
	$(NVCC) -cudart none -Xcompiler -pthread -o $@ $^

$(CUDA_TEST_BUILD)/test_cuda_pieces.o: $(CUDA_TEST_DIR)/test_cuda_pieces.cu
	@mkdir -p $(@D)
	$(NVCC) $(NVCCFLAGS) -x c++ -MD -MF $(@:.o=.d) -c $< -o $@

$(CUDA_TEST_BUILD)/test_cuda_pieces: $(CUDA_PIECES_TEST_OBJS)
	$(NVCC) -cudart none -Xcompiler -pthread -o $@ $^

$(CUDA_TEST_BUILD)/test_engine_cuda: $(CUDA_TEST_OBJS) $(CUDA_ENGINE_OBJS) $(CUDA_SHARED_OBJS) \
		$(CUDA_CPU_OBJS) $(CUDA_TEST_SHARED_OBJS)
	$(NVCC) $(CUDA_GENCODE) -cudart static -o $@ $^

# what stands in for the allocation of memory refuses some
$(CUDA_TEST_BUILD)/test_table_cuda: $(CUDA_TABLE_TEST_OBJS) $(CUDA_ENGINE_OBJS) $(CUDA_SHARED_OBJS)
	$(NVCC) $(CUDA_GENCODE) -cudart static -Xlinker --wrap=cudaMallocFromPoolAsync -o $@ $^

# ... where threads meet in shared memory by atomics alone, the only way that racecheck knows
CUDA_RACECHECK_OBJ = $(CUDA_TEST_BUILD)/hg_cuda_cuckoo_racecheck.o
$(CUDA_RACECHECK_OBJ): $(CUDA_DIR)/tables/hg_cuda_cuckoo.cu
	@mkdir -p $(@D)
	$(CUDA_COMPILE) -DHG_CUDA_RACECHECK -MF $(@:.o=.d) -c $< -o $@

$(CUDA_TEST_BUILD)/test_table_cuda_racecheck: $(CUDA_TABLE_TEST_OBJS) $(CUDA_RACECHECK_OBJ) \
		$(filter-out %/hg_cuda_cuckoo.o,$(CUDA_ENGINE_OBJS)) $(CUDA_SHARED_OBJS)
	$(NVCC) $(CUDA_GENCODE) -cudart static -Xlinker --wrap=cudaMallocFromPoolAsync -o $@ $^

.PHONY: racecheck-cuda
racecheck-cuda: $(CUDA_TEST_BUILD)/test_table_cuda_racecheck

.PHONY: unit-cuda
unit-cuda: $(CUDA_TEST_BUILD)/test_cuda_work $(CUDA_TEST_BUILD)/test_cuda_memory \
		$(CUDA_TEST_BUILD)/test_cuda_stream $(CUDA_TEST_BUILD)/test_cuda_pieces \
		$(CUDA_TEST_BUILD)/test_engine_cuda $(CUDA_TEST_BUILD)/test_table_cuda
	@if command -v prove >/dev/null 2>&1; then prove --exec '' $^; else for t in $^; do $$t || exit; done; fi
unit: unit-cuda

-include $(CUDA_OBJS:.o=.d) $(CUDA_TEST_OBJS:.o=.d) $(CUDA_TABLE_TEST_OBJS:.o=.d) $(CUDA_WORK_TEST_OBJS:.o=.d) \
	$(CUDA_MEMORY_TEST_OBJS:.o=.d) $(CUDA_STREAM_TEST_OBJS:.o=.d) $(CUDA_PIECES_TEST_OBJS:.o=.d) $(CUDA_TEST_SHARED_OBJS:.o=.d) $(CUDA_RACECHECK_OBJ:.o=.d)

else
$(info CUDA: $(if $(filter no,$(WITH_CUDA)),not wanted,not found), joins run on the CPU)
endif
