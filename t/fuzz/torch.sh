#!/bin/sh
# Fuzzes the reader of PyTorch's snapshots, with clang's libFuzzer, for FUZZ_SECONDS
# (20). The corpus stays in $BUILD/fuzz; a crash is kept there and is exit 1.
set -eu
: "${BUILD:=build/gcc}" "${FUZZ_SECONDS:=20}" "${FUZZ_CC:=clang}"
cd "$(dirname "$0")/../.."
out=$BUILD/fuzz
mkdir -p "$out/torch.corpus"
echo 'int LLVMFuzzerTestOneInput(const void *p, unsigned long n); int LLVMFuzzerTestOneInput(const void *p, unsigned long n) { return p && !n; }' |
	"$FUZZ_CC" -x c -fsanitize=fuzzer -o "$out/probe" - 2>/dev/null || {
	echo "fuzz: $FUZZ_CC has no libFuzzer"
	exit 0
}
"$FUZZ_CC" -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
	-D_GNU_SOURCE -I. -o "$out/torch" t/fuzz/torch.c formats/torch/*.c lib/region/timeline.c \
	lib/stream/*.c lib/base/*.c -ljansson -lxxhash -lzstd
"$out/torch" -max_total_time="$FUZZ_SECONDS" -max_len=16384 -timeout=20 -rss_limit_mb=2000 \
	-artifact_prefix="$out/torch-" -verbosity=0 -print_final_stats=1 \
	"$out/torch.corpus" t/data/torch >"$out/torch.log" 2>&1 || {
	tail -n 30 "$out/torch.log"
	exit 1
}
echo "torch: $(sed -n 's/^stat::number_of_executed_units: *//p' "$out/torch.log") inputs"
