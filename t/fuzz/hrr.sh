#!/bin/sh
# Fuzzes the reader of upstream archives with clang's libFuzzer for FUZZ_SECONDS
# (20), from the fixtures on. A crash is kept in $BUILD/fuzz and is exit 1.
set -eu
: "${BUILD:=build/gcc}" "${FUZZ_SECONDS:=20}" "${FUZZ_CC:=clang}"
cd "$(dirname "$0")/../.."
out=$BUILD/fuzz
mkdir -p "$out/hrr.corpus"
echo 'int LLVMFuzzerTestOneInput(const void *p, unsigned long n); int LLVMFuzzerTestOneInput(const void *p, unsigned long n) { return p && !n; }' |
	"$FUZZ_CC" -x c -fsanitize=fuzzer -o "$out/probe" - 2>/dev/null || {
	echo "fuzz: $FUZZ_CC has no libFuzzer"
	exit 0
}
"$FUZZ_CC" -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
	-std=c11 -D_GNU_SOURCE -I. -I"$BUILD/gen" -o "$out/hrr" t/fuzz/hrr.c formats/hrr/*.c \
	formats/hrrr/*.c lib/base/*.c lib/stream/*.c lib/store/*.c lib/region/*.c lib/hip/*.c \
	-ljansson -lxxhash -lzstd -lz -ldl -lpthread -lm
for f in t/data/hrr/*/pid-*/events.bin t/data/hrr/*/pid-*/regions/*.hrrr; do
	cp "$f" "$out/hrr.corpus/$(echo "$f" | tr / _)"
done
"$out/hrr" -max_total_time="$FUZZ_SECONDS" -max_len=16384 -timeout=20 -rss_limit_mb=2000 \
	-artifact_prefix="$out/hrr-" -verbosity=0 -print_final_stats=1 \
	"$out/hrr.corpus" >"$out/hrr.log" 2>&1 || {
	tail -n 30 "$out/hrr.log"
	exit 1
}
echo "hrr: $(sed -n 's/^stat::number_of_executed_units: *//p' "$out/hrr.log") inputs"
