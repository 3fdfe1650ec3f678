#!/bin/sh
# hrr-cat against jq and cat on canonical lines; an upstream archive to lines; --verify and
# the two blob hashes; memory that does not grow. All in one run on one input, processor time
# where nothing else is said. Nothing here asserts a time.
set -eu
: "${BUILD:?}"
PATH=$BUILD/bin:$PATH
root=$(cd "$(dirname "$0")/../.." && pwd)
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
cat lines >/dev/null

# best NAME BYTES COMMAND...: the best of five, seconds of processor time and GB/s
best() {
	name=$1 bytes=$2
	shift 2
	for _ in 1 2 3 4 5; do
		bash -c 'TIMEFORMAT="%U %S"; time "$@" >/dev/null 2>&1' best "$@" 2>&1
	done | awk -v name="$name" -v bytes="$bytes" '
		{ t = $1 + $2; if (best == "" || t < best) best = t }
		END { if (best < 0.001) best = 0.001
			printf "%-48s %7.3f s  %6.2f GB/s\n", name, best, bytes / best / 1e9 }' | tee -a results
}
# ratio NAME A B: how many times as long A takes as B
ratio() {
	awk -v name="$1" -v a="$2" -v b="$3" '
		index($0, a) == 1 { x = $(NF - 3) }
		index($0, b) == 1 { y = $(NF - 3) }
		END { printf "%s: %.1f times\n", name, x / y }' results
}
size=$(wc -c <lines)
best 'cat' "$size" cat lines
best 'hrr-cat' "$size" hrr-cat lines
for e in hipMemcpy @copy 'size>=1M' addr=0x7fbe01400000+1 'kernel=*gemm*' 'ret!=hipSuccess' dir=d2h stream=0x10 \
	'@copy and size>=1M and not dir=d2h'; do
	best "hrr-cat -e '$e'" "$size" hrr-cat -e "$e" lines
done
best 'hrr-cat --info' "$size" hrr-cat --info lines
best 'hrr-cat --text' "$size" hrr-cat --text lines
if command -v jq >/dev/null; then
	# shellcheck disable=SC2016 # jq's variable
	head -n 40001 lines >few
	best 'jq, by name' "$(wc -c <few)" jq -c 'select(.api=="hipMemcpy")' few
	best 'hrr-cat, by name' "$(wc -c <few)" hrr-cat -e hipMemcpy few
	best 'jq, by members' "$(wc -c <few)" jq -c 'select(.args.sizeBytes>=1048576)' few
	best 'hrr-cat, by members' "$(wc -c <few)" hrr-cat -e 'size>=1M' few
	ratio 'jq against hrr-cat, by name' 'jq, by name' 'hrr-cat, by name'
	ratio 'jq against hrr-cat, by members' 'jq, by members' 'hrr-cat, by members'
fi

hrr-cat -q -o up --format hrr8 lines 2>/dev/null
hrr-cat up >uplines 2>/dev/null
best 'hrr-cat of an upstream archive, bytes written' "$(wc -c <uplines)" hrr-cat up
rm -rf up uplines

# The two hashes in cache and in memory.
cat >hash.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "formats/hrr/hash.h"
#include "lib/base/id.h"
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
/* What the memory gives: nothing that reads it all is faster. */
static double plain(const unsigned char *p, size_t n, int times)
{
	double best = 1e9;
	for (int i = 0; i < 5; i++) {
		unsigned long v, sum[4] = {0};
		double t = now();
		for (int k = 0; k < times; k++)
			for (size_t at = 0; at < n; at += 32)
				for (int j = 0; j < 4; j++) {
					memcpy(&v, p + at + 8 * j, 8);
					sum[j] += v;
				}
		t = now() - t;
		__asm__ volatile("" : : "r"(sum[0] + sum[1] + sum[2] + sum[3]));
		best = t < best ? t : best;
	}
	return (double)n * times / 1e9 / best;
}
static void compare(const char *where, const unsigned char *p, size_t n, int times)
{
	double best[2] = {1e9, 1e9};
	unsigned x = 0;

	for (int i = 0; i < 5; i++) {
		double t = now();
		for (int k = 0; k < times; k++)
			x ^= hrr_id_of(p, n).b[0];
		best[0] = now() - t < best[0] ? now() - t : best[0];
		t = now();
		for (int k = 0; k < (times + 15) / 16; k++)
			x ^= (unsigned)hrr_fnv_of(p, n).lo;
		t = (now() - t) * times / ((times + 15) / 16);
		best[1] = t < best[1] ? t : best[1];
	}
	double bytes = (double)n * times / 1e9;
	printf("%s: blob hash %.2f GB/s, upstream's %.3f GB/s: %.1f times; plain reading %.2f GB/s (%u)\n",
	       where, bytes / best[0], bytes / best[1], best[1] / best[0], plain(p, n, times), x & 1);
}
int main(void)
{
	size_t n = (size_t)64 << 20;
	unsigned char *p = malloc(n);
	memset(p, 7, n);
	compare("256 KiB", p, 256 << 10, 1024);
	compare("64 MiB", p, n, 1);
}
C
${CC:-cc} -std=gnu11 -O2 -I"$root" -o hash hash.c "$BUILD/lib/libhrr.a" -lxxhash
./hash

# --verify of 1 GiB in 64 blobs: processor time, and time on the wall with the threads there are.
mkdir -p v.hrr/blobs v.hrr/pid-1
echo '{"hrr":1,"pid":1,"command":[],"t0":"1","blobs":"../blobs"}' >v.hrr/pid-1/events.jsonl
for i in $(seq 64); do
	head -c 16777216 /dev/urandom >blob
	h=$(xxhsum -q -H2 blob | cut -d' ' -f1)
	two=$(printf %.2s "$h")
	mkdir -p "v.hrr/blobs/$two"
	mv blob "v.hrr/blobs/$two/$h"
	echo "{\"seq\":$i,\"t\":$i,\"dur\":1,\"tid\":1,\"api\":\"hipMemcpy\",\"args\":{},\"blobs\":{\"src\":\"xxh128:$h\"}}"
done >>v.hrr/pid-1/events.jsonl
echo '{"end":"complete","t":65,"calls":64,"outputs":0,"regions":0,"lost":0,"notRecorded":{}}' >>v.hrr/pid-1/events.jsonl
best 'hrr-cat --verify, processor time' 1073741824 hrr-cat --verify v.hrr
# shellcheck disable=SC2046 # names without blanks
best 'xxhsum -H2 of the same files' 1073741824 xxhsum -q -H2 $(find v.hrr/blobs -type f)
for _ in 1 2 3 4 5; do
	bash -c 'TIMEFORMAT=%R; time hrr-cat --verify v.hrr >/dev/null' 2>&1
done | sort -n | awk 'NR == 1 { printf "hrr-cat --verify on the wall: %.3f s, %.2f GB/s\n", $1, 1073741824 / $1 / 1e9 }'
rm -rf v.hrr

# Held at most, with the input open until everything was printed.
grep '"seq"' lines >calls
for times in 1 4; do
	{ head -n 1 lines; for _ in $(seq $times); do cat calls; done; } >long
	mkfifo in
	hrr-cat -e hipMemcpy <in >out 2>/dev/null &
	pid=$!
	exec 9>in
	cat long >&9
	until [ "$(wc -l <out)" -ge $((n * times / 4 + 1)) ]; do sleep 0.1; done
	echo "resident memory of hrr-cat -e hipMemcpy on $(($(wc -c <long) / 1000000)) MB:" \
		"$(awk '/VmHWM/ { print $2 }' /proc/$pid/status) KiB"
	exec 9>&-
	wait $pid || :
	rm in
done
