#!/bin/sh
# Plays damaged archives on the CPU run time: FUZZ_SECONDS (20) or FUZZ_RUNS archives from
# FUZZ_SEED on (the time, so that every run is another). They are made of the one in t/data/fuzz/play
# and of what programs of t/apps leave, where they are built. What was found stays in
# $BUILD/fuzz/play, as SEED.jsonl and SEED.err; then it is exit 1. A seed plays again with
# FUZZ_RUNS=1, as long as the archives are the same. FUZZ_WATCHDOG (10) is how many seconds one
# wait may take. FUZZ_PLAY names the folder, for several at once.
#
# One hrr-play loads what takes most of the time, and forks for each archive (play_server.c).
set -eu
: "${BUILD:=build/gcc}" "${FUZZ_SECONDS:=20}" "${FUZZ_RUNS:=1000000000}" "${CC:=cc}"
: "${FUZZ_SEED:=$(date +%s)000}" "${FUZZ_APPS=saxpy graphnodes hostreg graphcap structarg pitched vmm}"
cd "$(dirname "$0")/../.."
out=$BUILD/fuzz
play=$out/play-driver
: "${FUZZ_PLAY:=$out/play}"
[ -e "$BUILD/lib/hrr/libhrr-emu.so" ] || {
	echo "play: no CPU run time in $BUILD"
	exit 0
}
mkdir -p "$out"
$CC -std=c11 -O1 -g -D_GNU_SOURCE -I. -o "$play.$$" t/fuzz/play.c t/fuzz/play_run.c t/fuzz/play_mutate.c \
	lib/base/buf.c lib/base/id.c lib/base/diag.c lib/base/mask.c -lxxhash
mv "$play.$$" "$play" # others may run it
# A sanitizer's run time has to be loaded first: then each replay is a program of its own, as with
# FUZZ_SERVER set to nothing.
if [ -z "${HRR_T_ASAN:-}" ] && [ -n "${FUZZ_SERVER-yes}" ]; then
	$CC -std=c11 -O1 -g -D_GNU_SOURCE -I. -shared -fPIC -o "$play.$$.so" t/fuzz/play_server.c t/fuzz/play_run.c -ldl
	mv "$play.$$.so" "$play.so"
	FUZZ_SERVER=$(cd "$out" && pwd)/play-driver.so
else
	FUZZ_SERVER=
fi
export FUZZ_SERVER
set -- t/data/fuzz/play/symbols.hrr
for a in $FUZZ_APPS; do
	[ -e "$BUILD/t/apps/$a" ] || continue
	[ -e "$out/$a.hrr" ] ||
		"$BUILD/bin/hrr-capture" -d emu -o "$out/$a.hrr" -- "$BUILD/t/apps/$a" >/dev/null 2>&1 ||
		continue
	set -- "$@" "$out/$a.hrr"
done
exec "$play" "$BUILD/bin/hrr-play" "$FUZZ_PLAY" "$FUZZ_SEED" "$FUZZ_RUNS" "$FUZZ_SECONDS" "$@"
