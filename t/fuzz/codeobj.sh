#!/bin/sh
# Fuzzes what reads code objects, with clang's libFuzzer: each for FUZZ_SECONDS
# (20). The corpus stays in $BUILD/fuzz; a crash is kept there and is exit 1.
set -eu
: "${BUILD:=build/gcc}" "${FUZZ_SECONDS:=20}" "${FUZZ_CC:=clang}"
cd "$(dirname "$0")/../.."
out=$BUILD/fuzz
mkdir -p "$out"
echo 'int LLVMFuzzerTestOneInput(const void *p, unsigned long n); int LLVMFuzzerTestOneInput(const void *p, unsigned long n) { return p && !n; }' |
	"$FUZZ_CC" -x c -fsanitize=fuzzer -o "$out/probe" - 2>/dev/null || {
	echo "fuzz: $FUZZ_CC has no libFuzzer"
	exit 0
}
for name in codeobj bundle dwarf; do
	"$FUZZ_CC" -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
		-D_GNU_SOURCE -I. -o "$out/$name" "t/fuzz/$name.c" lib/hip/bundle*.c lib/hip/codeobj*.c \
		lib/hip/elf*.c lib/hip/dwarf*.c lib/hip/msgpack.c lib/base/buf.c lib/base/diag.c -lz -lzstd
	mkdir -p "$out/$name.corpus"
	# The limit of malloc is over HRR_BUNDLE_MAX_UNPACKED, which honest heads may ask for.
	"$out/$name" -max_total_time="$FUZZ_SECONDS" -max_len=16384 -timeout=20 -malloc_limit_mb=2100 \
		-rss_limit_mb=4000 -artifact_prefix="$out/$name-" -verbosity=0 -print_final_stats=1 \
		"$out/$name.corpus" t/data/codeobj >"$out/$name.log" 2>&1 || {
		tail -n 30 "$out/$name.log"
		exit 1
	}
	echo "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$out/$name.log") inputs"
done
