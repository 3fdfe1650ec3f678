#!/bin/sh
# Records programs with many threads under ThreadSanitizer: its run time is preloaded, since the
# programs are not built for it. LD_AUDIT leaves it no room for thread-local memory. Exit 1 when there is a race.
set -eu
: "${BUILD:?}" "${HRR_T_TSAN:?}" "${CC:=cc}"
root=$(cd "$(dirname "$0")/.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
cc=${CC##* }
"$cc" -std=gnu11 -O1 -shared -fPIC -I"$BUILD/gen" -Wl,-soname,libamdhip64.so.5 -o libamdhip64.so.5 "$root/t/stub/hip.c"
"$cc" -std=gnu11 -O1 -I"$BUILD/gen" -o calls "$root/t/stub/calls.c" ./libamdhip64.so.5 -lpthread
failed=0
for what in 'threads 50' 'copies 20 70000' 'logged 20 100000' 'short 20' 'pinned 2' 'hostfn 3'; do
	rm -rf out log.*
	# shellcheck disable=SC2086 # words
	CALLS_LOG=$tmp/calls.log LD_LIBRARY_PATH=. LD_PRELOAD=$HRR_T_TSAN \
		TSAN_OPTIONS="exitcode=99 log_path=$tmp/log suppressions=$root/t/tsan.supp" \
		timeout 300 "$BUILD/bin/hrr-capture" -q --no-audit --min-free 0 -o out -- ./calls $what && rc=0 || rc=$?
	set -- log.*
	if [ "$rc" -ne 0 ] || [ -e "$1" ]; then
		echo "calls $what: exit code $rc"
		cat log.* 2>/dev/null | head -60
		failed=1
	fi
done
[ "$failed" -eq 0 ] && echo 'tsan: no race'
