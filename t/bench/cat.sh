#!/bin/sh
# hrr-cat on canonical lines against jq and cat, in one run on one input; memory
# that does not grow with it; the blob hash against the check of a whole archive.
# Nothing here asserts a time.
set -eu
: "${BUILD:?}"
PATH=$BUILD/bin:$PATH
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
n=${BENCH_CALLS:-400000}
awk -v n="$n" 'BEGIN {
	id = "xxh128:99aa06d3014798d86001c324468d497f"
	print "{\"hrr\":1,\"pid\":1,\"image\":0,\"command\":[\"./x\"],\"t0\":\"1\",\"realtime\":\"1\",\"boot\":\"\",\"env\":{},\"blobs\":\"/\"}"
	for (i = 1; i <= n; i++) {
		head = "{\"seq\":" i ",\"t\":" 10 * i ",\"dur\":812,\"tid\":4242,\"api\":\""
		if (i % 4 == 0)
			print head "hipMemcpy\",\"args\":{\"dst\":\"0x7fbe01400000\",\"src\":\"0x55d0c0a0\",\"sizeBytes\":" 16 * i ",\"kind\":\"hipMemcpyHostToDevice\"},\"dir\":\"h2d\",\"blobs\":{\"src\":\"" id "\"}}"
		else if (i % 4 == 3)
			print head "hipDeviceSynchronize\",\"args\":{}}"
		else
			print head "hipLaunchKernel\",\"args\":{\"function_address\":\"0x55d0c0f0\",\"numBlocks\":[4,1,1],\"dimBlocks\":[256,1,1],\"sharedMemBytes\":0,\"stream\":\"0x0\"},\"kernel\":{\"name\":\"_Z5saxpyfPKfPfi\",\"object\":\"" id "\",\"grid\":[4,1,1],\"block\":[256,1,1],\"lds\":0,\"args\":[{\"offset\":0,\"size\":4,\"hex\":\"00000040\"},{\"offset\":8,\"size\":8,\"hex\":\"00004001be7f0000\",\"ptr\":[0]}]}}"
	}
	print "{\"end\":\"complete\",\"t\":" 10 * n ",\"calls\":" n ",\"outputs\":0,\"regions\":0,\"lost\":0,\"notRecorded\":{},\"realtime\":\"1\"}"
}' >lines
bytes=$(wc -c <lines)
cat lines >/dev/null

# best NAME COMMAND...: the best of three, seconds of processor time and GB/s
best() {
	name=$1
	shift
	for _ in 1 2 3; do
		/usr/bin/env bash -c 'TIMEFORMAT="%U %S"; time "$@" >/dev/null 2>&1' best "$@" 2>&1
	done | awk -v name="$name" -v bytes="$bytes" '
		{ t = $1 + $2; if (best == "" || t < best) best = t }
		END { if (best < 0.001) best = 0.001
			printf "%-44s %7.3f s  %6.2f GB/s\n", name, best, bytes / best / 1e9 }' | tee -a results
}
best 'cat' cat lines
best 'hrr-cat (print)' hrr-cat lines
best 'hrr-cat -e hipMemcpy (by name)' hrr-cat -e hipMemcpy lines
best 'hrr-cat -e size>=1M (by members)' hrr-cat -e 'size>=1M' lines
best 'hrr-cat --info' hrr-cat --info lines
if command -v jq >/dev/null; then
	best 'jq -c select(.api=="hipMemcpy")' jq -c 'select(.api=="hipMemcpy")' lines
	awk '/hipMemcpy \(by name/ { a = $(NF - 3) } /by members/ { b = $(NF - 3) } /^jq/ { j = $(NF - 3) }
		END { printf "jq takes %.0f times as long as -e by name, %.0f times as by members\n", j / a, j / b }' results
fi
for f in lines long; do
	[ "$f" = lines ] || { head -n 1 lines; for _ in 1 2 3 4; do grep '"seq"' lines; done; } >long
	printf 'resident memory of hrr-cat -e hipMemcpy on %s MB: %s KiB\n' "$(($(wc -c <$f) / 1000000))" \
		"$(bash -c 'hrr-cat -e hipMemcpy "$1" 2>/dev/null | (sleep 0.3; cat >/dev/null) & sleep 0.2; grep -h VmHWM /proc/$(pgrep -n -f "hrr-cat -e hipMemcpy $1")/status 2>/dev/null | tr -dc 0-9; wait' m $f)"
done
