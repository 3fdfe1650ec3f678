#!/bin/sh
# The engine on the CPU run time: what it adds to the calls it issues, translation, comparing, memory.
# Figures: at most 1.5 us added for a small event read from a stream; at most 100 ns to translate an address with
# 10,000 live allocations; outputs compared at half of memcmp or better; memory that does not grow with the stream.
set -eu
: "${BUILD:?}"
PATH=$BUILD/bin:$PATH
"$BUILD/t/unit/emu_replay_cost" bench | grep -E '^(small|translation|outputs)'

# stream N: N small events.
stream() {
	awk -v n="$1" 'BEGIN {
	print "{\"hrr\":1,\"pid\":1,\"command\":[],\"t0\":\"1\",\"blobs\":\"/nowhere\"}"
	print "{\"seq\":1,\"t\":1,\"dur\":1,\"tid\":1,\"api\":\"hipMalloc\",\"args\":{\"ptr\":\"0x7c0000000000\",\"size\":4096}}"
	print "{\"seq\":2,\"t\":1,\"dur\":1,\"tid\":1,\"api\":\"hipStreamCreate\",\"args\":{\"stream\":\"0x51\"}}"
	for (i = 3; i <= n; i++) {
		head = "{\"seq\":" i ",\"t\":" i * 10 ",\"dur\":9,\"tid\":1,\"api\":\"hip"
		if (i % 3 == 0) print head "MemsetAsync\",\"args\":{\"dst\":\"0x7c0000000000\",\"value\":" i % 256 ",\"sizeBytes\":64,\"stream\":\"0x51\"}}"
		if (i % 3 == 1) print head "StreamSynchronize\",\"args\":{\"stream\":\"0x51\"}}"
		if (i % 3 == 2) print head "SetDevice\",\"args\":{\"deviceId\":0}}"
	} }'
}

# peak N: resident memory of a replay of N events, in KiB, at its largest.
peak() {
	stream "$1" >"$pipe" &
	hrr-play -q -d emu - <"$pipe" 2>/dev/null &
	pid=$!
	top=0
	while v=$(awk '/VmHWM/ { print $2 }' "/proc/$pid/status" 2>/dev/null) && [ -n "$v" ]; do
		top=$v
		sleep 0.02
	done
	wait "$pid" || exit 1
	echo "$top"
}
dir=$(mktemp -d "${TMPDIR:-/tmp}/hrr-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT
pipe=$dir/pipe
mkfifo "$pipe"
one=$(peak 1000000)
ten=$(peak 10000000)
echo "resident memory: $one KiB for 1 M small events, $ten KiB for 10 M: $(awk "BEGIN { printf \"%+.1f\", ($ten - $one) * 100 / $one }") %"
