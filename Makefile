# hrr: HIP record and replay. `make help` lists the targets.
#
# Everything compiled goes to build/CONFIG. CONFIG is gcc, clang, asan or tsan
# (any other name takes gcc's settings), BUILD may be set to a folder elsewhere.

CONFIG ?= gcc
BUILD ?= build/$(CONFIG)
PREFIX ?= /usr/local
DESTDIR ?=
VERSION := $(shell cat VERSION)

ifneq ($(filter clang fuzz-%,$(CONFIG)),)
CC := clang
else ifeq ($(origin CC),default)
CC := gcc
endif

OPT ?= -O2 -g
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wcast-qual -Wwrite-strings -Wvla -Wundef -Wformat=2 -Werror
SAN_asan := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
SAN_tsan := -fsanitize=thread
SAN_fuzz-asan := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
SAN_fuzz-fast := -fsanitize=fuzzer-no-link,undefined -fsanitize-trap=undefined
SAN_fuzz-bulk := -fsanitize-coverage=inline-8bit-counters,pc-table -fsanitize=undefined -fsanitize-trap=undefined
SAN := $(SAN_$(CONFIG))
CPPFLAGS += -D_GNU_SOURCE -I. -I$(BUILD)/gen -DHRR_VERSION='"$(VERSION)"'
CFLAGS += -std=c11 -fPIC -fvisibility=hidden -fno-strict-aliasing $(OPT) $(WARN) $(SAN)
LDFLAGS += $(SAN) -Wl,--as-needed
# One short line a step; V=1 shows the commands.
say = $(if $(filter 1,$(V)),,@echo '  $(1) $@';)
COMPILE = $(CC) $(CPPFLAGS) $(CFLAGS) $(FOLDER_CFLAGS) -MMD -MP

# --- sources: a new file in a folder is picked up by itself -----------------
LIB_SRC := $(wildcard lib/base/*.c lib/stream/*.c lib/store/*.c lib/region/*.c lib/hip/*.c lib/diff/*.c \
	lib/replay/*.c lib/collect/*.c formats/*/*.c)
ISA_SRC := $(wildcard lib/emu/isa/*.c)
RUNTIME_SRC := $(wildcard lib/emu/runtime/*.c)
PRELOAD_SRC := $(filter-out lib/preload/audit.c,$(wildcard lib/preload/*.c))
PROGS := $(patsubst bin/%.c,%,$(wildcard bin/hrr-*.c))
# bin/NAME_*.c are parts of hrr-NAME; what else is not hrr-NAME.c is shared by all programs.
prog_parts = $(wildcard $(patsubst hrr-%,bin/%_*.c,$(1)))
BIN_SHARED_SRC := $(filter-out bin/hrr-%.c $(foreach p,$(PROGS),$(call prog_parts,$(p))),$(wildcard bin/*.c))
UNITS := $(patsubst t/unit/%.c,%,$(wildcard t/unit/*.c))

# Tables written by formats/gen.awk out of formats/hip.api.
GEN := $(addprefix $(BUILD)/gen/,hip_ids.h hip_proto.h hip_table.inc hip_invoke.inc \
	preload_shims.inc preload_tramp.S emu_stubs.inc emu_names.inc \
	preload_names.txt emu_versions.map hrr_wire.inc stream_families.h)

obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
LIB := $(BUILD)/lib/libhrr.a
L := $(BUILD)/lib/hrr
# What recorded programs get: of libhrr only the parts that may run inside them.
IN_PROGRAM_SRC := lib/base/buf.c lib/base/diag.c lib/base/mask.c lib/base/proc.c lib/base/range.c \
	$(filter lib/hip/bundle%.c lib/hip/codeobj%.c lib/hip/msgpack%.c lib/hip/elf%.c \
	lib/hip/dwarf%.c lib/hip/table.c lib/hip/node_call.c,$(LIB_SRC))
COMPLETIONS := $(BUILD)/share/hrr.bash $(BUILD)/share/_hrr
EMU_MAJORS := 5 6 7
STANDINS := $(foreach m,$(EMU_MAJORS),$(L)/emu/libamdhip64.so.$(m)) $(L)/emu/libhsa-runtime64.so.1
SHARED := $(if $(PRELOAD_SRC),$(L)/libhrr-preload.so) \
	$(if $(wildcard lib/preload/audit.c),$(L)/libhrr-audit.so) \
	$(if $(and $(RUNTIME_SRC),$(ISA_SRC)),$(L)/libhrr-emu.so $(STANDINS))

.PHONY: all demo deps test check-asan check-faults check-tsan check-valgrind check-compilers fault lint bench install uninstall clean help units apps man isa-coverage fuzz
all: $(LIB) $(PROGS:%=$(BUILD)/bin/%) $(SHARED) $(COMPLETIONS)

help:
	@echo 'build:    all (the default) units apps install uninstall clean'
	@echo 'first:    deps (installs with apt) demo'
	@echo 'test:     test check-asan check-faults check-tsan check-valgrind check-compilers fault fuzz lint man'
	@echo 'figures:  bench isa-coverage'
	@echo 'settings: CONFIG=gcc|clang|asan|tsan BUILD=DIR PREFIX=DIR DESTDIR=DIR DEVICE=emu|rocm TESTS="FILE..." V=1'

deps:
	sh t/deps.sh

# --- generated --------------------------------------------------------------
$(GEN) &: formats/hip.api formats/gen.awk
	@mkdir -p $(BUILD)/gen
	$(call say,GEN)awk -f formats/gen.awk -v out=$(BUILD)/gen formats/hip.api

# --- objects ----------------------------------------------------------------
# gcc puts 64-byte aligned arrays on a fake stack that is aligned to 32: none for the vectors there.
ISA_CFLAGS := $(if $(SAN),$(if $(filter gcc,$(CC)),--param asan-use-after-return=0),-O3) -fno-math-errno -ffp-contract=off -frounding-math
$(BUILD)/obj/lib/emu/isa/%.o: FOLDER_CFLAGS := $(ISA_CFLAGS)
# Loops for the vectorizer; no level of the machine rounds otherwise than the others.
TYPED_CFLAGS := -O3 -ffp-contract=off
$(BUILD)/obj/lib/diff/typed_block.o: FOLDER_CFLAGS := $(TYPED_CFLAGS)
# In a namespace of its own, so without libc; a sanitizer's run time cannot live there.
AUDIT_CFLAGS := -fno-builtin -fno-sanitize=all -fno-stack-protector
# The references of this test round as MODE says: without this gcc makes rint of a sum that is right to the nearest only.
MODES_CFLAGS := -frounding-math
# Other flags than those of the last build: everything is compiled again.
FLAGS := $(lastword $(CC)) $(CPPFLAGS) $(CFLAGS) $(ISA_CFLAGS) $(TYPED_CFLAGS) $(AUDIT_CFLAGS) $(MODES_CFLAGS)
ifneq ($(file <$(BUILD)/obj/flags),$(FLAGS))
.PHONY: $(BUILD)/obj/flags
endif
$(BUILD)/obj/flags:
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(FLAGS))' >$@
$(BUILD)/obj/%.o: %.c $(BUILD)/obj/flags | $(GEN)
	@mkdir -p $(@D)
	$(call say,CC )$(COMPILE) -c -o $@ $<
$(BUILD)/obj/gen/%.o: $(BUILD)/gen/%.S
	@mkdir -p $(@D)
	$(call say,AS )$(CC) $(CPPFLAGS) -c -o $@ $<

$(LIB): $(call obj,$(LIB_SRC))
	@mkdir -p $(@D)
	@rm -f $@
	$(call say,AR )ar rcs $@ $^

.SECONDEXPANSION:
$(BUILD)/bin/%: $(BUILD)/obj/bin/%.o $$(call obj,$$(call prog_parts,$$*)) $(call obj,$(BIN_SHARED_SRC)) $(LIB)
	@mkdir -p $(@D)
	$(call say,LD )$(CC) $(LDFLAGS) -o $@ $^ -ljansson -lxxhash -lzstd -lz -ldl -lpthread -lm

# --- shared objects ---------------------------------------------------------
$(L)/libhrr-preload.so: $(call obj,$(PRELOAD_SRC) $(IN_PROGRAM_SRC)) $(BUILD)/obj/gen/preload_tramp.o
	@mkdir -p $(@D)
	$(call say,LD )$(CC) -shared $(LDFLAGS) -Wl,-z,defs -Wl,-z,nodelete -o $@ $^ -lzstd -lz -ldl -lpthread
$(BUILD)/obj/lib/preload/audit.o: FOLDER_CFLAGS := $(AUDIT_CFLAGS)
$(L)/libhrr-audit.so: $(call obj,lib/preload/audit.c)
	@mkdir -p $(@D)
	$(call say,LD )$(CC) -shared -nostdlib -Wl,-z,defs -o $@ $^
$(L)/libhrr-emu.so: $(call obj,$(ISA_SRC) $(RUNTIME_SRC) $(IN_PROGRAM_SRC))
	@mkdir -p $(@D)
	$(call say,LD )$(CC) -shared $(LDFLAGS) -Wl,-z,defs -Wl,-z,nodelete -Wl,-soname,libhrr-emu.so -o $@ $^ -lzstd -lz -ldl -lpthread -lm
$(L)/emu/libamdhip64.so.%: lib/emu/standin/hip.S $(L)/libhrr-emu.so $(GEN)
	@mkdir -p $(@D)
	$(call say,LD )$(CC) -shared $(CPPFLAGS) -DMAJOR=$* -o $@ $< -nostdlib -Wl,-soname,libamdhip64.so.$* \
		-Wl,--version-script=$(BUILD)/gen/emu_versions.map -Wl,-rpath,'$$ORIGIN/..' -L$(L) -l:libhrr-emu.so
	@[ $* != 5 ] || ln -sf libamdhip64.so.5 $(@D)/libamdhip64.so
$(L)/emu/libhsa-runtime64.so.1: lib/emu/standin/hsa.S lib/emu/standin/hsa_names.inc lib/emu/standin/hsa.map $(L)/libhrr-emu.so
	@mkdir -p $(@D)
	$(call say,LD )$(CC) -shared $(CPPFLAGS) -o $@ $< -nostdlib -Wl,-soname,libhsa-runtime64.so.1 \
		-Wl,--version-script=lib/emu/standin/hsa.map -Wl,-rpath,'$$ORIGIN/..' -L$(L) -l:libhrr-emu.so

# --- completion of commands: out of what the programs say with -h ---
$(COMPLETIONS) &: $(wildcard bin/completions/*) $(PROGS:%=$(BUILD)/bin/%)
	$(call say,GEN)sh bin/completions/gen.sh $(BUILD)/bin $(BUILD)/gen $(BUILD)/share

# --- tests ------------------------------------------------------------------
$(BUILD)/t/unit/%: $(BUILD)/obj/t/unit/%.o $(call obj,$(ISA_SRC)) $(LIB)
	@mkdir -p $(@D)
	$(call say,LD )$(CC) $(LDFLAGS) -o $@ $^ -ljansson -lxxhash -lzstd -lz -ldl -lpthread -lm
# These see the CPU run time through its stand-ins.
$(BUILD)/obj/t/unit/isa_modes.o: FOLDER_CFLAGS := $(MODES_CFLAGS)
$(patsubst %,$(BUILD)/t/unit/%,$(filter emu_%,$(UNITS))): | $(L)/libhrr-emu.so $(STANDINS)
units: $(UNITS:%=$(BUILD)/t/unit/%)
-include t/apps/apps.mk t/test.mk

TO = $(DESTDIR)$(PREFIX)
COMPLETE_BASH = $(TO)/share/bash-completion/completions
COMPLETE_ZSH = $(TO)/share/zsh/site-functions
install: all
	install -d "$(TO)/bin" "$(TO)/lib/hrr/emu" "$(COMPLETE_BASH)" "$(COMPLETE_ZSH)"
	install -m 755 $(PROGS:%=$(BUILD)/bin/%) "$(TO)/bin"
	install -m 755 $(L)/*.so "$(TO)/lib/hrr"
	install -m 755 $(STANDINS) "$(TO)/lib/hrr/emu"
	cp -P $(L)/emu/libamdhip64.so "$(TO)/lib/hrr/emu"
	for n in 1 5 7; do install -d "$(TO)/share/man/man$$n" && \
		install -m 644 man/*.$$n "$(TO)/share/man/man$$n" || exit; done
	for p in $(PROGS); do install -m 644 $(BUILD)/share/hrr.bash "$(COMPLETE_BASH)/$$p" || exit; done
	install -m 644 $(BUILD)/share/_hrr "$(COMPLETE_ZSH)"
# Folders that others may use stay.
uninstall:
	rm -rf "$(TO)/lib/hrr" "$(COMPLETE_ZSH)/_hrr"
	for p in $(PROGS); do rm -f "$(TO)/bin/$$p" "$(COMPLETE_BASH)/$$p"; done
	for f in man/*.[157]; do rm -f "$(TO)/share/man/man$${f##*.}/$${f##*/}"; done
clean:
	rm -rf build

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
