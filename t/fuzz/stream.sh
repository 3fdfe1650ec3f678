#!/bin/sh
# Fuzzes what reads and writes streams, selectors and an archive's small files, with
# clang's libFuzzer: each for FUZZ_SECONDS (20), or FUZZ_RUNS inputs. FUZZ_ONLY names some
# of the four. The corpora are t/data/fuzz and the fixtures; what is found stays in
# $BUILD/fuzz, with any crash, which is exit 1.
set -eu
: "${BUILD:=build/gcc}" "${FUZZ_SECONDS:=20}" "${FUZZ_CC:=clang}" "${FUZZ_RUNS:=-1}"
cd "$(dirname "$0")/../.."
out=$BUILD/fuzz
mkdir -p "$out"
echo 'int LLVMFuzzerTestOneInput(const void *p, unsigned long n); int LLVMFuzzerTestOneInput(const void *p, unsigned long n) { return p && !n; }' |
	"$FUZZ_CC" -x c -fsanitize=fuzzer -o "$out/probe" - 2>/dev/null || {
	echo "fuzz: $FUZZ_CC has no libFuzzer"
	exit 0
}
flags='-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -std=c11 -D_GNU_SOURCE'
mkdir -p "$out/stream.obj"
root=$PWD
# shellcheck disable=SC2086 # words
(cd "$out/stream.obj" && "$FUZZ_CC" $flags -fsanitize=fuzzer-no-link "-I$root" -c \
	"$root"/lib/base/*.c "$root"/lib/stream/*.c "$root"/lib/store/*.c)
for what in ${FUZZ_ONLY:-record select store write}; do
	mkdir -p "$out/$what.corpus"
	# shellcheck disable=SC2086 # words
	"$FUZZ_CC" $flags -fsanitize=fuzzer -I. -o "$out/$what" "t/fuzz/$what.c" \
		"$out"/stream.obj/*.o -ljansson -lxxhash -lzstd -lm
	"$out/$what" -max_total_time="$FUZZ_SECONDS" -runs="$FUZZ_RUNS" -max_len=4096 -timeout=20 \
		-rss_limit_mb=2000 -artifact_prefix="$out/$what-" -verbosity=0 \
		-print_final_stats=1 "$out/$what.corpus" "t/data/fuzz/$what" \
		>"$out/$what.log" 2>&1 || {
		tail -n 30 "$out/$what.log"
		exit 1
	}
	echo "$what: $(sed -n 's/^stat::number_of_executed_units: *//p' "$out/$what.log") inputs"
done
