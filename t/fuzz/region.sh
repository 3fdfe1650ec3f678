#!/bin/sh
# Fuzzes what explains, lints and draws memory, with clang's libFuzzer, for
# FUZZ_SECONDS (20). The corpus stays in $BUILD/fuzz; a crash is kept there and is exit 1.
set -eu
: "${BUILD:=build/gcc}" "${FUZZ_SECONDS:=20}" "${FUZZ_CC:=clang}"
cd "$(dirname "$0")/../.."
out=$BUILD/fuzz
mkdir -p "$out/region.corpus"
echo 'int LLVMFuzzerTestOneInput(const void *p, unsigned long n); int LLVMFuzzerTestOneInput(const void *p, unsigned long n) { return p && !n; }' |
	"$FUZZ_CC" -x c -fsanitize=fuzzer -o "$out/probe" - 2>/dev/null || {
	echo "fuzz: $FUZZ_CC has no libFuzzer"
	exit 0
}
for f in t/data/streams/*/pid-*/events.jsonl; do
	{
		echo '0x7f0000000000'
		cat "$f"
	} >"$out/region.corpus/$(echo "$f" | tr / _)"
done
"$FUZZ_CC" -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
	-D_GNU_SOURCE -I. -o "$out/region" t/fuzz/region.c lib/region/*.c lib/store/*.c \
	lib/stream/*.c lib/base/*.c -ljansson -lxxhash -lzstd -lm
"$out/region" -max_total_time="$FUZZ_SECONDS" -max_len=8192 -timeout=20 -rss_limit_mb=2000 \
	-artifact_prefix="$out/region-" -verbosity=0 -print_final_stats=1 \
	"$out/region.corpus" >"$out/region.log" 2>&1 || {
	tail -n 30 "$out/region.log"
	exit 1
}
echo "region: $(sed -n 's/^stat::number_of_executed_units: *//p' "$out/region.log") inputs"
