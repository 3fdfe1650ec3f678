# Targets that check. `make test` is what README and CI call.

JOBS ?= 2
DEVICE ?= emu
BATS := $(sort $(wildcard t/[0-9]*.bats))
TESTS ?= $(UNITS:%=$(BUILD)/t/unit/%) $(BATS)
ASAN_LIB = $(if $(findstring address,$(SAN)),$(shell $(CC) -print-file-name=libasan.so))
T_ENV = BUILD=$(abspath $(BUILD)) DEVICE=$(DEVICE) CC='$(CC)' HRR_T_ASAN='$(ASAN_LIB)'
SH_FILES := t/runtest t/deps.sh t/demo.sh t/fault.sh .ci/run $(wildcard t/lint/*.sh t/wrap/* t/bench/*.sh)

# A GPU that does not answer is said once, not by every test.
test: all units apps
ifneq ($(filter-out emu rocm,$(DEVICE)),)
	@echo 'test: DEVICE is emu or rocm, not $(DEVICE)' >&2; exit 2
endif
ifeq ($(DEVICE),rocm)
	@[ -x $(BUILD)/t/apps/saxpy ] || \
		{ echo 'test: DEVICE=rocm: the programs of t/apps are not built (no hipcc?)' >&2; exit 2; }
	@why=$$($(BUILD)/t/apps/saxpy 2>&1 >/dev/null) || \
		{ echo "test: DEVICE=rocm: no GPU to test on: $$why" >&2; exit 2; }
endif
	@$(T_ENV) prove -j$(JOBS) -e t/runtest $(TESTS)

check-asan:
	@$(MAKE) --no-print-directory CONFIG=asan BUILD=build/asan test

# Unit tests under valgrind; the interpreter and the limits of JSON and pickles take too long there.
VALGRIND_UNITS := $(filter-out isa% emu% base_json hrr_convert torch%,$(UNITS))
check-valgrind: all units
	@$(T_ENV) prove -j$(JOBS) -e 'valgrind -q --error-exitcode=99 --suppressions=t/valgrind.supp' \
		$(VALGRIND_UNITS:%=$(BUILD)/t/unit/%)

# The CPU run time, and recording with many threads, under ThreadSanitizer.
check-tsan:
	@$(MAKE) --no-print-directory CONFIG=tsan BUILD=build/tsan tsan-tests
TSAN_UNITS := emu_async emu_late emu_graph emu_memory emu_launch collect_order store_blob
tsan-tests: all $(TSAN_UNITS:%=$(BUILD)/t/unit/%)
	@$(T_ENV) TSAN_OPTIONS="exitcode=99 suppressions=$(CURDIR)/t/tsan.supp" \
		prove -j$(JOBS) $(TSAN_UNITS:%=$(BUILD)/t/unit/%)
	@$(T_ENV) HRR_T_TSAN="$$($(lastword $(CC)) -print-file-name=libtsan.so)" sh t/tsan.sh

# Every call of the system in every program fails once. `make check-faults FAULTS_CASES="cat_o play_r"`.
check-faults: all
	@$(T_ENV) bash t/faults.sh $(FAULTS_CASES)

# Each patch of t/fault breaks one rule; the test it names has to go red.
fault: all units apps
	@$(T_ENV) MAKE='$(MAKE)' sh t/fault.sh $(FAULTS)

lint: all
	@$(T_ENV) sh t/lint/all.sh

demo: deps
	@$(MAKE) --no-print-directory all apps
	@$(T_ENV) bash t/demo.sh

# The CPU run time with its checks of addresses left out, for t/bench/isa.sh alone.
UNCHECKED_SRC := lib/emu/isa/mem_lanes.c lib/emu/isa/smem.c
UNCHECKED := $(BUILD)/bench/hrr
$(BUILD)/obj/unchecked/%.o: FOLDER_CFLAGS = $(if $(SAN),,-O3) -fno-math-errno -ffp-contract=off -frounding-math -DISA_UNCHECKED
$(BUILD)/obj/unchecked/%.o: %.c | $(GEN)
	@mkdir -p $(@D)
	$(call say,CC )$(COMPILE) -c -o $@ $<
$(UNCHECKED)/libhrr-emu.so: $(call obj,$(filter-out $(UNCHECKED_SRC),$(ISA_SRC)) $(RUNTIME_SRC) $(IN_PROGRAM_SRC)) \
		$(UNCHECKED_SRC:%.c=$(BUILD)/obj/unchecked/%.o)
	@mkdir -p $(@D)/emu
	$(call say,LD )$(CC) -shared $(LDFLAGS) -Wl,-soname,libhrr-emu.so -o $@ $^ -lzstd -lz -ldl -lpthread -lm
	cp -P $(L)/emu/libamdhip64.so* $(@D)/emu

bench: all apps $(BUILD)/t/unit/diff_parts $(BUILD)/t/unit/emu_replay_cost $(UNCHECKED)/libhrr-emu.so
	@set -e; found=; for f in t/bench/*.sh; do [ -f "$$f" ] || continue; found=1; \
		echo "# $$f"; $(T_ENV) sh "$$f"; done; [ "$$found" ] || echo 'bench: nothing in t/bench'

fuzz: all
	@set -e; found=; for f in t/fuzz/*.sh; do [ -f "$$f" ] || continue; found=1; \
		echo "# $$f"; $(T_ENV) sh "$$f"; done; [ "$$found" ] || echo 'fuzz: nothing in t/fuzz'

# What t/fuzz/run.sh links with.
.PHONY: fuzz-objects
fuzz-objects: $(LIB)

# t/isa/algos.hip by every compiler at hand, for every arch, at each level of optimisation: minutes.
check-compilers: $(BUILD)/t/unit/isa_algos
	$(T_ENV) HRR_T_ALL=1 $(BUILD)/t/unit/isa_algos

man:
	mandoc -T lint -W warning man/*.[157]

# Objects of tests stay, so that what did not change is not built again.
.PRECIOUS: $(BUILD)/obj/%.o

# Per arch: instructions implemented, exercised by a test, and met in code objects: t/apps, t/isa and
# CORPUS="FILE_OR_FOLDER ...". `make isa-coverage MISSING=1` lists what no test exercises.
isa-coverage: units
	@BUILD=$(abspath $(BUILD)) CORPUS='$(CORPUS)' HIPCC='$(HIPCC)' sh t/isa/coverage.sh $(if $(MISSING),missing)
