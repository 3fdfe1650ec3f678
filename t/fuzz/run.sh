#!/bin/sh
# Fuzzes every reader with clang's libFuzzer: each harness of the list below for FUZZ_SECONDS (20)
# or FUZZ_RUNS inputs. FUZZ_ONLY names some. What is found stays in $BUILD/fuzz: the corpus in
# NAME.corpus, a crash as NAME-crash-…, which is exit 1. Figures add up in NAME.count.
#
# FUZZ_KIND is asan (AddressSanitizer, UBSan), fast: UBSan only, some times as many inputs; reads
# past the input are then seen by the page behind it; or bulk: fast, but comparisons are not watched,
# so that what an input does is most of its time. It grows what the others have found.
set -eu
: "${BUILD:=build/gcc}" "${FUZZ_SECONDS:=20}" "${FUZZ_CC:=clang}" "${FUZZ_RUNS:=-1}"
: "${FUZZ_KIND:=asan}" "${MAKE:=make}" "${JOBS:=2}"
cd "$(dirname "$0")/../.."
out=$BUILD/fuzz
mkdir -p "$out"
echo 'int LLVMFuzzerTestOneInput(const void *p, unsigned long n); int LLVMFuzzerTestOneInput(const void *p, unsigned long n) { return p && !n; }' |
	"$FUZZ_CC" -x c -fsanitize=fuzzer -o "$out/probe" - 2>/dev/null || {
	echo "fuzz: $FUZZ_CC has no libFuzzer"
	exit 0
}
# name, longest input, corpora besides t/data/fuzz/NAME
list='
record 1024 t/data/streams/small/pid-4242
select 256
manifest 512 t/data/hrr/saxpy t/data/streams/small
sidecar 512 t/data/streams/small/pid-4242/regions
write 256
args 256
hrr 4096
region 2048
torch 2048 t/data/torch
codeobj 8192 t/data/codeobj
bundle 8192 t/data/codeobj
metadata 2048
descriptor 224
dwarf 1024 t/data/codeobj
'
obj=$out/$FUZZ_KIND
# Of the interpreter, which takes long to build, only what reads kernel descriptors is instrumented.
isa=
case " ${FUZZ_ONLY:-descriptor} " in
*' descriptor '*) isa="$obj/obj/lib/emu/isa/launch.o $obj/obj/lib/emu/isa/wave.o" ;;
esac
# shellcheck disable=SC2086 # a word or none
env -u MAKEFLAGS -u MFLAGS "$MAKE" --no-print-directory -s -j"$JOBS" CONFIG="fuzz-$FUZZ_KIND" \
	BUILD="$obj" CC="${FUZZ_CCACHE-} $FUZZ_CC" fuzz-objects $isa
case $FUZZ_KIND in
asan) san=-fsanitize=fuzzer,address,undefined guard= ;;
bulk) san='-fsanitize=undefined -fsanitize-trap=undefined -fsanitize-coverage=inline-8bit-counters,pc-table -fsanitize=fuzzer -fno-sanitize-coverage=trace-cmp,indirect-calls' guard=-Wl,--wrap=LLVMFuzzerTestOneInput ;;
*) san='-fsanitize=fuzzer,undefined -fsanitize-trap=undefined' guard=-Wl,--wrap=LLVMFuzzerTestOneInput ;;
esac
echo "$list" | while read -r name max corpora; do
	case " ${FUZZ_ONLY:-$name} " in
	*" $name "*) [ -n "$name" ] || continue ;;
	*) continue ;;
	esac
	bin=$obj/$name
	objects=
	[ "$name" != descriptor ] || objects="$isa $(find "$BUILD/obj/lib/emu/isa" -name '*.o' ! -name launch.o ! -name wave.o)"
	mkdir -p "$out/$name.corpus"
	# shellcheck disable=SC2086,SC2046 # words
	"$FUZZ_CC" -g -O2 $san -fno-sanitize-recover=undefined -std=c11 -D_GNU_SOURCE -I. \
		-I"$obj/gen" -o "$bin" "t/fuzz/$name.c" $guard t/fuzz/guard.c t/fuzz/memfile.c $(cat t/fuzz/memfile.ld) \
		$objects "$obj/lib/libhrr.a" \
		-ljansson -lxxhash -lzstd -lz -ldl -lpthread -lm
	case $name in
	hrr)
		for f in t/data/hrr/*/pid-*/events.bin t/data/hrr/*/pid-*/regions/*.hrrr; do
			cp "$f" "$out/hrr.corpus/$(echo "$f" | tr / _)"
		done
		;;
	region)
		for f in t/data/streams/*/pid-*/events.jsonl; do
			{
				echo '0x7f0000000000'
				cat "$f"
			} >"$out/region.corpus/$(echo "$f" | tr / _)"
		done
		;;
	esac
	[ ! -d "t/data/fuzz/$name" ] || corpora="$corpora t/data/fuzz/$name"
	# The limit of malloc is over HRR_BUNDLE_MAX_UNPACKED, which honest heads may ask for.
	# shellcheck disable=SC2086 # words
	ASAN_OPTIONS=detect_leaks=${FUZZ_LEAKS:-1}:malloc_context_size=4:quarantine_size_mb=8 \
		"$bin" -max_total_time="$FUZZ_SECONDS" -runs="$FUZZ_RUNS" -max_len="$max" -timeout=20 \
		-malloc_limit_mb=2100 -rss_limit_mb=4000 -artifact_prefix="$out/$name-" \
		-verbosity=0 -print_final_stats=1 "$out/$name.corpus" $corpora \
		>"$out/$name.log" 2>&1 || {
		tail -n 30 "$out/$name.log"
		exit 1
	}
	n=$(sed -n 's/^stat::number_of_executed_units: *//p' "$out/$name.log")
	echo "$FUZZ_KIND $n" >>"$out/$name.count"
	echo "$name: $n inputs, $(awk -v k="$FUZZ_KIND" '$1 == k { n += $2 } END { print n }' "$out/$name.count") in all ($FUZZ_KIND)"
done
