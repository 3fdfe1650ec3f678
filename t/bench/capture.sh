#!/bin/sh
# What recording costs, against an interposer that only forwards, in one run.
# Nothing here asserts a time.
set -eu
: "${BUILD:?}"
root=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cc=${CC:-cc}
gen=$BUILD/gen
$cc -std=gnu11 -O2 -shared -fPIC -I"$gen" -Wl,-soname,libamdhip64.so.5 -o "$tmp/libamdhip64.so.5" "$root/t/stub/hip.c"
$cc -std=gnu11 -O2 -I"$gen" -o "$tmp/calls" "$root/t/stub/calls.c" "$tmp/libamdhip64.so.5" -lpthread
$cc -std=gnu11 -O2 -shared -fPIC -I"$gen" -o "$tmp/forward.so" "$root/t/stub/forward.c" -ldl
export LD_LIBRARY_PATH="$tmp"
cd "$tmp"
capture() { rm -rf a.hrr; "$BUILD/bin/hrr-capture" -q -o a.hrr -- "$@"; }

CALLS_PAUSE=1
export CALLS_PAUSE
echo "small call, plain:               $(./calls timed 100000)"
echo "small call, forwarded:           $(LD_PRELOAD=$tmp/forward.so ./calls timed 100000)"
echo "small call, recorded:            $(capture ./calls timed 100000)"
echo "small call, recorded, 2 threads: $(capture ./calls timed2 100000 | sort | tail -1)"
if command -v hipcc >/dev/null; then
	hipcc --offload-arch=gfx90a -O2 -o launches "$root/t/stub/launches.hip" 2>/dev/null
	echo "launch of 4 args, forwarded:     $(LD_PRELOAD=$tmp/forward.so ./launches 20000)"
	echo "launch of 4 args, recorded:      $(capture ./launches 20000)"
fi
unset CALLS_PAUSE

seconds() { # CMD...: seconds it took
	from=$(date +%s.%N)
	"$@" >/dev/null
	echo "$from $(date +%s.%N)" | awk '{ printf "%.2f", $2 - $1 }'
}
# What hrr-capture itself used, asked by its child: processor time in ticks, resident kB.
cat >asking <<'EOF'
#!/bin/sh
./calls small 1000000
rss=$(awk '/^VmRSS/ { print $2 }' /proc/$PPID/status)
./calls small 10000000
awk -v rss="$rss" '/^VmRSS/ { print rss, $2 }' /proc/$PPID/status >memory
cut -d' ' -f14,15 /proc/$PPID/stat >ticks
EOF
chmod +x asking
s=$(seconds capture ./asking)
n=$(cat a.hrr/pid-*/events.jsonl | grep -c '^{"seq":')
echo "$n $s $(cat ticks) $(getconf CLK_TCK) $(cat memory)" | awk '{ cpu = ($3 + $4) / $5
	printf "%d small calls in two processes, all in the archive: %.1f s, hrr-capture used %.2f s of one core, %.2f M calls/s; resident after 1 M calls %d kB, after 11 M %d kB\n",
		$1, $2, cpu, $1 / cpu / 1e6, $6, $7 }'
# Time the processor spent, so that neighbours count for less; wall times are in brackets.
for size in 131072 1048576 16777216 67108864; do
	p=$(./calls payload 21 $size)
	r=$(rm -rf a.hrr; "$BUILD/bin/hrr-capture" -q --min-free 1M -o a.hrr -- ./calls payload 21 $size)
	echo "$size $p $r" | awk '{
		printf "copy of %d bytes: memcpy %.1f GB/s (%.1f), recording it %.1f GB/s (%.1f): %.2f of memcpy (%.2f)\n",
			$1, $1 / $8, $1 / $6, $1 / ($9 - $5), $1 / ($7 - $3), $8 / ($9 - $5), $6 / ($7 - $3) }'
done
for size in 4096 65536 1048576 16777216; do
	k=$((268435456 / size))
	[ $k -le 4096 ] || k=4096
	p=$(seconds ./calls copies $k $size)
	r=$(seconds capture ./calls copies $k $size)
	echo "$k copies there and back of $size bytes: plain $p s, recorded $r s"
done
