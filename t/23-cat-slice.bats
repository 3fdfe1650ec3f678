# shellcheck disable=SC2086,SC2016 # words are meant to be split
# hrr-cat --slice: selected calls and all they depend on.
load helper

setup() {
	common_setup
	need_prog hrr-cat
	need_cmd jq
	SMALL=$ROOT/t/data/streams/small
}

seqs() { jq -r 'select(has("seq")) | .seq' | tr '\n' ' '; }

# line API ARGS [MORE]: a call, numbered by itself
n=0
line() {
	n=$((n + 1))
	echo "{\"seq\":$n,\"t\":$n,\"dur\":1,\"tid\":${TID:-1},\"api\":\"$1\",\"args\":{$2}${3:+,$3}}"
}
launch() { # POINTER... as hex digits of one byte: address 0x7fXX00
	local args=() p
	for p in "$@"; do
		args+=("{\"offset\":$((8 * ${#args[@]})),\"size\":8,\"hex\":\"00${p}7f0000000000\",\"ptr\":[0]}")
	done
	line hipLaunchKernel '"stream":"0x0"' "\"kernel\":{\"name\":\"k\",\"object\":\"xxh128:99aa06d3014798d86001c324468d497f\",\"grid\":[1,1,1],\"block\":[1,1,1],\"lds\":0,\"args\":[$(IFS=,; echo "${args[*]}")]}"
}
header() { echo '{"hrr":1,"pid":1,"t0":"1","blobs":"/none"}'; }
slice_is() { # EXPR SEQS
	run_sep hrr-cat --slice "$1" s
	status_is 0
	[ "$(seqs <"$T/.out")" = "$2" ] || saw "$1 should be: $2"
}

@test "slice: a copy back needs allocation, upload and launch, and not the rest" {
	run_sep hrr-cat --slice seq=7 --pid 4242 "$SMALL"
	status_is 0
	[ "$(seqs <"$T/.out")" = '1 2 3 4 5 6 7 9 ' ]
	[ "$(jq -c 'select(.end) | [.end,.calls,.outputs]' <"$T/.out")" = '["filtered",8,1]' ]
	run_sep hrr-cat --slice seq=3 --pid 4242 "$SMALL"
	[ "$(seqs <"$T/.out")" = '1 2 3 9 ' ]
	[ "$(jq -c 'select(.end) | .outputs' <"$T/.out")" = 0 ]
}

@test "slice: memory that has nothing to do with it stays out" {
	{
		header
		line hipMalloc '"ptr":"0x7f0100","size":16'                                       # 1
		line hipMalloc '"ptr":"0x7f0200","size":16'                                       # 2
		line hipMalloc '"ptr":"0x7f0300","size":16'                                       # 3
		line hipMemset '"dst":"0x7f0100","value":0,"sizeBytes":16'                        # 4
		line hipMemset '"dst":"0x7f0200","value":0,"sizeBytes":16'                        # 5
		line hipMemset '"dst":"0x7f0300","value":0,"sizeBytes":16'                        # 6
		launch 01                                                                         # 7
		launch 02 03                                                                      # 8
		line hipMemcpy '"dst":"0x1000","src":"0x7f0100","sizeBytes":16' '"dir":"d2h"'     # 9
		line hipMemcpy '"dst":"0x1000","src":"0x7f0300","sizeBytes":16' '"dir":"d2h"'     # 10
		line hipFree '"ptr":"0x7f0100"'                                                   # 11
		line hipFree '"ptr":"0x7f0200"'                                                   # 12
	} >s
	slice_is seq=9 '1 4 7 9 11 '
	slice_is seq=10 '2 3 5 6 8 10 12 '
	slice_is 'seq=9 or seq=10' '1 2 3 4 5 6 7 8 9 10 11 12 '
	slice_is seq=4 '1 4 11 '
}

@test "slice: what was captured into a graph that was there belongs to it" {
	{
		header
		line hipMalloc '"ptr":"0x7f0100","size":16'                                                    # 1
		line hipMalloc '"ptr":"0x7f0200","size":16'                                                    # 2
		line hipStreamCreate '"stream":"0x51"'                                                         # 3
		line hipGraphCreate '"pGraph":"0x61","flags":0'                                                # 4
		line hipMemset '"dst":"0x7f0200","value":0,"sizeBytes":16'                                     # 5
		line hipStreamBeginCaptureToGraph '"stream":"0x51","graph":"0x61","dependencies":null,"numDependencies":0,"mode":"hipStreamCaptureModeGlobal"' # 6
		line hipMemsetAsync '"dst":"0x7f0100","value":7,"sizeBytes":16,"stream":"0x51"'                # 7
		line hipStreamEndCapture '"stream":"0x51","pGraph":"0x61"'                                     # 8
		line hipGraphInstantiate '"pGraphExec":"0x71","graph":"0x61","flags":0'                        # 9
		line hipGraphLaunch '"graphExec":"0x71","stream":"0x51"'                                       # 10
		line hipMemcpy '"dst":"0x1000","src":"0x7f0100","sizeBytes":16' '"dir":"d2h"'                  # 11
	} >s
	slice_is seq=11 '1 3 4 6 7 8 9 10 11 '
}

@test "slice: what is mapped elsewhere or again is unmapped before" {
	{
		header
		line hipMemAddressReserve '"ptr":"0x7f0000","size":4096,"alignment":0,"addr":"0x0","flags":0' # 1
		line hipMemCreate '"handle":"0x51","size":1024,"prop":{},"flags":0'                           # 2
		line hipMemCreate '"handle":"0x52","size":1024,"prop":{},"flags":0'                           # 3
		line hipMemMap '"ptr":"0x7f0000","size":1024,"offset":0,"handle":"0x51","flags":0'            # 4
		line hipMemset '"dst":"0x7f0000","value":1,"sizeBytes":16'                                    # 5
		line hipMemUnmap '"ptr":"0x7f0000","size":1024'                                               # 6
		line hipMemMap '"ptr":"0x7f0000","size":1024,"offset":0,"handle":"0x52","flags":0'            # 7
		line hipMemset '"dst":"0x7f0000","value":2,"sizeBytes":16'                                    # 8
		line hipMemcpy '"dst":"0x1000","src":"0x7f0000","sizeBytes":16' '"dir":"d2h"'                 # 9
		line hipMemUnmap '"ptr":"0x7f0000","size":2048'                                               # 10
		line hipMemRelease '"handle":"0x51"'                                                          # 11
		line hipMemRelease '"handle":"0x52"'                                                          # 12
		line hipMemAddressFree '"devPtr":"0x7f0000","size":4096'                                      # 13
	} >s
	slice_is seq=9 '1 2 3 4 5 6 7 8 9 10 11 12 13 '
	slice_is seq=5 '1 2 4 5 6 11 13 '
}

@test "slice: a node that is changed, made or asked for, changes its graph" {
	{
		header
		line hipMalloc '"ptr":"0x7f0100","size":16'                                                    # 1
		line hipMalloc '"ptr":"0x7f0200","size":16'                                                    # 2
		line hipGraphCreate '"pGraph":"0x61","flags":0'                                                # 3
		line hipGraphAddMemsetNode '"pGraphNode":"0x91","graph":"0x61","pDependencies":null,"numDependencies":0,"pMemsetParams":{"dst":"0x7f0200"}' # 4
		line hipGraphGetNodes '"graph":"0x61","nodes":["0x92"],"numNodes":1'                           # 5
		line hipGraphMemsetNodeSetParams '"node":"0x92","pNodeParams":{"dst":"0x7f0100"}'              # 6
		line hipGraphInstantiate '"pGraphExec":"0x71","graph":"0x61","flags":0'                        # 7
		line hipGraphLaunch '"graphExec":"0x71","stream":"0x0"'                                        # 8
		line hipMemcpy '"dst":"0x1000","src":"0x7f0100","sizeBytes":16' '"dir":"d2h"'                  # 9
	} >s
	slice_is seq=8 '1 2 3 4 5 6 7 8 '
	slice_is seq=9 '1 2 3 4 5 6 7 8 9 '
}

@test "slice: a graph of many nodes takes memory and time by their number" {
	awk -v n=3000 'function call(api, args) {
			seq++
			printf "{\"seq\":%d,\"t\":%d,\"dur\":1,\"tid\":1,\"api\":\"%s\",\"args\":{%s}}\n", seq, seq, api, args
		}
		BEGIN {
			print "{\"hrr\":1,\"pid\":1,\"t0\":\"1\",\"blobs\":\"/none\"}"
			for (i = 0; i < n; i++)
				call("hipMalloc", sprintf("\"ptr\":\"0x7f%06x00\",\"size\":256", i))
			call("hipGraphCreate", "\"pGraph\":\"0x61\",\"flags\":0")
			for (i = 0; i < n; i++) {
				from = i > 0 ? sprintf("[\"0x%x\"]", 1048576 + i - 1) : "null"
				call("hipGraphAddMemsetNode", sprintf("\"pGraphNode\":\"0x%x\",\"graph\":\"0x61\",\"pDependencies\":%s,\"numDependencies\":%d,\"pMemsetParams\":{\"dst\":\"0x7f%06x00\"}", 1048576 + i, from, i > 0, i))
				if (i > 1)
					call("hipGraphAddDependencies", sprintf("\"graph\":\"0x61\",\"from\":[\"0x%x\"],\"to\":[\"0x%x\"],\"numDependencies\":1", 1048576 + i - 2, 1048576 + i))
			}
			call("hipGraphInstantiate", "\"pGraphExec\":\"0x71\",\"graph\":\"0x61\",\"flags\":0")
			call("hipGraphLaunch", "\"graphExec\":\"0x71\",\"stream\":\"0x0\"")
			call("hipMalloc", "\"ptr\":\"0x7e0000\",\"size\":256")
		}' >s
	# 90 MiB of touches where each node had its graph's; with dependencies it took gigabytes.
	run_sep limit_to_64_mib hrr-cat -c --slice @launch s
	status_is 0
	out_is 9001
}

# AddressSanitizer takes terabytes of addresses for itself.
limit_to_64_mib() { ([ -n "${HRR_T_ASAN:-}" ] || ulimit -v 65536 && exec "$@"); }

@test "slice: the node of a child, and one found from another, are of the graph they are in" {
	{
		header
		line hipMalloc '"ptr":"0x7f0100","size":16'                                     # 1
		line hipMalloc '"ptr":"0x7f0200","size":16'                                     # 2
		line hipGraphCreate '"pGraph":"0x61","flags":0'                                 # 3
		line hipGraphCreate '"pGraph":"0x62","flags":0'                                 # 4
		line hipGraphAddMemsetNode '"pGraphNode":"0x91","graph":"0x62","pDependencies":null,"numDependencies":0,"pMemsetParams":{"dst":"0x7f0100"}' # 5
		line hipGraphAddChildGraphNode '"pGraphNode":"0x92","graph":"0x61","pDependencies":null,"numDependencies":0,"childGraph":"0x62"' # 6
		line hipGraphNodeSetParams '"node":"0x92","nodeParams":{"type":"hipGraphNodeTypeGraph"}' # 7
		line hipGraphNodeGetDependentNodes '"node":"0x92","pDependentNodes":["0x94"],"pNumDependentNodes":1' # 8
		line hipGraphMemsetNodeSetParams '"node":"0x94","pNodeParams":{"dst":"0x7f0200"}' # 9
		line hipGraphChildGraphNodeGetGraph '"node":"0x92","pGraph":"0x63"'             # 10
		line hipGraphInstantiate '"pGraphExec":"0x71","graph":"0x61","flags":0'         # 11
		line hipGraphLaunch '"graphExec":"0x71","stream":"0x0"'                         # 12
		line hipGraphInstantiate '"pGraphExec":"0x72","graph":"0x63","flags":0'         # 13
		line hipGraphLaunch '"graphExec":"0x72","stream":"0x0"'                         # 14
	} >s
	slice_is seq=12 '1 2 3 4 5 6 7 8 9 11 12 '
	slice_is seq=14 '1 2 3 4 5 6 7 8 9 10 11 12 13 14 '
}

@test "slice: a node whose event is another one changes its graph, without any memory" {
	{
		header
		line hipEventCreate '"event":"0x81"'                                                           # 1
		line hipEventCreate '"event":"0x82"'                                                           # 2
		line hipGraphCreate '"pGraph":"0x61","flags":0'                                                # 3
		line hipGraphAddEventRecordNode '"pGraphNode":"0x91","graph":"0x61","pDependencies":null,"numDependencies":0,"event":"0x81"' # 4
		line hipGraphEventRecordNodeSetEvent '"node":"0x91","event":"0x82"'                            # 5
		line hipGraphInstantiate '"pGraphExec":"0x71","graph":"0x61","flags":0'                        # 6
		line hipGraphLaunch '"graphExec":"0x71","stream":"0x0"'                                        # 7
	} >s
	slice_is seq=7 '1 2 3 4 5 6 7 '
}

@test "slice: a base that comes again is another life" {
	{
		header
		line hipMalloc '"ptr":"0x7f0100","size":16'                                   # 1
		line hipMemset '"dst":"0x7f0100","value":1,"sizeBytes":16'                    # 2
		line hipFree '"ptr":"0x7f0100"'                                               # 3
		line hipMalloc '"ptr":"0x7f0100","size":16'                                   # 4
		line hipMemset '"dst":"0x7f0108","value":2,"sizeBytes":8'                     # 5
		line hipMemcpy '"dst":"0x1000","src":"0x7f0100","sizeBytes":16' '"dir":"d2h"' # 6
	} >s
	slice_is seq=6 '4 5 6 '
	slice_is seq=2 '1 2 3 '
}

@test "slice: handles, waits, the thread's device, and the wait that shows an output" {
	{
		header
		TID=2 line hipSetDevice '"deviceId":1'                                              # 1
		line hipSetDevice '"deviceId":0'                                                    # 2
		line hipStreamCreate '"stream":"0xa0"'                                              # 3
		line hipStreamCreate '"stream":"0xb0"'                                              # 4
		line hipEventCreate '"event":"0xe0"'                                                # 5
		line hipMalloc '"ptr":"0x7f0100","size":16'                                         # 6
		line hipMemsetAsync '"dst":"0x7f0100","value":1,"sizeBytes":16,"stream":"0xb0"'     # 7
		line hipEventRecord '"event":"0xe0","stream":"0xb0"'                                # 8
		line hipStreamWaitEvent '"stream":"0xa0","event":"0xe0","flags":0'                  # 9
		line hipMemcpyAsync '"dst":"0x1000","src":"0x7f0100","sizeBytes":16,"stream":"0xa0"' '"dir":"d2h"' # 10
		TID=2 line hipGetLastError ''                                                       # 11
		line hipStreamCreate '"stream":"0xc0"'                                              # 12
		line hipStreamSynchronize '"stream":"0xc0"'                                         # 13
		line hipStreamSynchronize '"stream":"0xa0"'                                         # 14
		echo '{"output":10,"t":14,"addr":"0x1000","size":16,"unknown":""}'
		line hipStreamDestroy '"stream":"0xa0"'                                             # 15
		line hipStreamDestroy '"stream":"0xc0"'                                             # 16
	} >s
	slice_is seq=10 '2 3 4 5 6 7 8 9 10 14 15 '
}

@test "slice: a launch takes the next copy back of its memory along" {
	{
		header
		line hipMalloc '"ptr":"0x7f0100","size":16'                                   # 1
		launch 01                                                                     # 2
		line hipMalloc '"ptr":"0x7f0200","size":16'                                   # 3
		line hipMemcpy '"dst":"0x1000","src":"0x7f0200","sizeBytes":16' '"dir":"d2h"' # 4
		echo '{"output":4,"t":4,"addr":"0x1000","size":16,"unknown":""}'
		line hipMemcpy '"dst":"0x1000","src":"0x7f0100","sizeBytes":16' '"dir":"d2h"' # 5
		echo '{"output":5,"t":5,"addr":"0x1000","size":16,"unknown":""}'
	} >s
	slice_is kernel=k '1 2 5 '
	[ "$(jq -r 'select(.output) | .output' <"$T/.out")" = 5 ]
}

capture() { # DIGITS: a capture on stream 0x51 that launches on 0x7fDIGITS00, into graph 0x61
	line hipStreamBeginCapture '"stream":"0x51","mode":"hipStreamCaptureModeGlobal"'
	launch "$1"
	line hipStreamEndCapture '"stream":"0x51","pGraph":"0x61"'
}
read_back() { # DIGITS
	line hipMemcpy "\"dst\":\"0x1000\",\"src\":\"0x7f${1}00\",\"sizeBytes\":16" '"dir":"d2h"'
	echo "{\"output\":$n,\"t\":$n,\"addr\":\"0x1000\",\"size\":16,\"unknown\":\"\"}"
}

@test "slice: a launch that was captured takes its graph's first launch along, and what shows that" {
	{
		header
		line hipStreamCreate '"stream":"0x51"'                              # 1
		line hipMalloc '"ptr":"0x7f0100","size":16'                         # 2
		line hipMalloc '"ptr":"0x7f0200","size":16'                         # 3
		capture 01                                                          # 4 5 6
		line hipGraphInstantiate '"pGraphExec":"0x71","graph":"0x61"'       # 7
		line hipGraphInstantiate '"pGraphExec":"0x72","graph":"0x61"'       # 8
		launch 02                                                           # 9
		line hipGraphLaunch '"graphExec":"0x71","stream":"0x51"'            # 10
		read_back 01                                                        # 11
		line hipGraphLaunch '"graphExec":"0x71","stream":"0x51"'            # 12
		read_back 01                                                        # 13
	} >s
	slice_is seq=13 '1 2 4 5 6 7 10 12 13 '
	slice_is seq=5 '1 2 4 5 6 7 10 11 '
	[ "$(jq -r 'select(.output) | .output' <"$T/.out")" = 11 ]
	slice_is seq=9 '3 9 '
	# The graph copies to the host itself: outputs are its launch's.
	n=0
	{
		header
		line hipStreamCreate '"stream":"0x51"'                        # 1
		line hipMalloc '"ptr":"0x7f0100","size":16'                   # 2
		capture 01                                                    # 3 4 5
		line hipGraphInstantiate '"pGraphExec":"0x71","graph":"0x61"' # 6
		line hipGraphLaunch '"graphExec":"0x71","stream":"0x51"'      # 7
		line hipGraphLaunch '"graphExec":"0x71","stream":"0x51"'      # 8
		line hipStreamSynchronize '"stream":"0x51"'                   # 9
		echo '{"output":7,"node":4,"t":9,"addr":"0x1000","size":16,"unknown":""}'
		echo '{"output":8,"node":4,"t":9,"addr":"0x1000","size":16,"unknown":""}'
	} >s
	slice_is seq=4 '1 2 3 4 5 6 7 9 '
	[ "$(jq -r 'select(.output) | .output' <"$T/.out")" = 7 ]
	n=0
	{
		header
		line hipStreamCreate '"stream":"0x51"'      # 1
		line hipMalloc '"ptr":"0x7f0100","size":16' # 2
		capture 01                                  # 3 4 5
		line hipGraphCreate '"pGraph":"0x62"'       # 6
	} >s
	slice_is seq=4 '1 2 3 4 5 '
}

@test "slice: a kernel node takes its graph's first launch along, by way of clones and children" {
	{
		header
		line hipStreamCreate '"stream":"0x51"'                                             # 1
		line hipMalloc '"ptr":"0x7f0100","size":16'                                        # 2
		line hipGraphCreate '"pGraph":"0x61"'                                              # 3
		line hipGraphAddKernelNode '"pGraphNode":"0x81","graph":"0x61"' "$(launch 01 | sed 's/.*"kernel"/"kernel"/; s/}$//')" # 4
		line hipGraphClone '"pGraphClone":"0x62","originalGraph":"0x61"'                   # 5
		line hipGraphCreate '"pGraph":"0x63"'                                              # 6
		line hipGraphAddChildGraphNode '"pGraphNode":"0x82","graph":"0x63","childGraph":"0x62"' # 7
		line hipGraphCreate '"pGraph":"0x64"'                                              # 8
		line hipGraphInstantiate '"pGraphExec":"0x71","graph":"0x64"'                      # 9
		line hipGraphInstantiate '"pGraphExec":"0x72","graph":"0x63"'                      # 10
		line hipGraphLaunch '"graphExec":"0x71","stream":"0x51"'                           # 11
		line hipGraphLaunch '"graphExec":"0x72","stream":"0x51"'                           # 12
		read_back 01                                                                       # 13
	} >s
	slice_is seq=13 '1 2 3 4 5 6 7 10 12 13 '
	slice_is seq=4 '1 2 3 4 5 6 7 10 12 13 '
}

@test "slice: the same twice, and a slice of a slice is itself" {
	hrr-cat --slice seq=7 --pid 4242 "$SMALL" >one
	hrr-cat --slice seq=7 --pid 4242 "$SMALL" >two
	cmp one two
	hrr-cat --slice seq=7 one >three
	cmp one three
}

bytes_of() { find "$1" -type f -printf '%s\n' | jq -s add; }

@test "slice: never larger than its source, in its format" {
	run_sep hrr-cat -q --slice 'api=*' -o all.hrr "$SMALL"
	status_is 0
	[ "$(bytes_of all.hrr)" -le "$(bytes_of "$SMALL")" ]
	for a in saxpy pinned pids regions; do
		run_sep hrr-cat -q --slice 'api=*' --format hrr8 -o "$a" "$ROOT/t/data/hrr/$a"
		status_is 0
		[ "$(bytes_of "$a")" -le "$(bytes_of "$ROOT/t/data/hrr/$a")" ] || saw "$a is larger"
	done
}

@test "slice: what it cannot do is said" {
	run_sep bash -c "hrr-cat $SMALL | hrr-cat --slice seq=1"
	status_is 2
	err_has '--slice reads twice: an archive or a file is needed, no pipe'
	run_sep hrr-cat --slice seq=999 "$SMALL"
	status_is 2
	err_has '--slice: it selects no call'
	run_sep hrr-cat --slice 'x=' "$SMALL"
	status_is 2
	run_sep hrr-cat --slice seq=1 -e seq=1 "$SMALL"
	status_is 2
	err_has '--slice goes with neither -e nor --follow'
}

@test "slice: of the first or last calls selected, and of several expressions" {
	{
		header
		for i in 1 2 3; do
			line hipMalloc "\"ptr\":\"0x7f0${i}00\",\"size\":16"               # 1 2 3
		done
		for i in 1 2 3; do
			line hipMemset "\"dst\":\"0x7f0${i}00\",\"value\":0,\"sizeBytes\":16" # 4 5 6
		done
	} >s
	run_sep hrr-cat --slice @set --first 1 s
	status_is 0
	[ "$(seqs <"$T/.out")" = '1 4 ' ]
	run_sep hrr-cat --slice @set --last 1 s
	[ "$(seqs <"$T/.out")" = '3 6 ' ]
	run_sep hrr-cat --slice @set --last 2 s
	[ "$(seqs <"$T/.out")" = '2 3 5 6 ' ]
	run_sep hrr-cat --slice @set --last 9 s
	[ "$(seqs <"$T/.out")" = '1 2 3 4 5 6 ' ]
	run_sep hrr-cat --slice seq=4 --slice seq=6 s
	[ "$(seqs <"$T/.out")" = '1 3 4 6 ' ]
	run_sep hrr-cat -c --slice @set --first 2 s
	out_is 4
}

@test "slice: a call with thousands of dependencies takes time by their number" {
	{
		header
		line hipMalloc '"ptr":"0x7f0100","size":16'                   # 1
		line hipMemset '"dst":"0x7f0100","value":0,"sizeBytes":16'    # 2
		line hipGraphCreate '"pGraph":"0x61","flags":0'               # 3
		awk -v n=60000 'BEGIN {
			for (i = 1; i <= n; i++)
				printf "{\"seq\":%d,\"t\":%d,\"dur\":1,\"tid\":1,\"api\":\"hipGraphAddEmptyNode\",\"args\":{\"pGraphNode\":\"0x%x\",\"graph\":\"0x61\",\"pDependencies\":null,\"numDependencies\":0}}\n", 3 + i, 3 + i, 1048576 + i
			printf "{\"seq\":%d,\"t\":%d,\"dur\":1,\"tid\":1,\"api\":\"hipGraphAddDependencies\",\"args\":{\"graph\":\"0x61\",\"from\":[", n + 4, n + 4
			for (i = 1; i < n; i++)
				printf "%s\"0x%x\"", (i > 1 ? "," : ""), 1048576 + i
			printf "],\"to\":["
			for (i = 1; i < n; i++)
				printf "%s\"0x%x\"", (i > 1 ? "," : ""), 1048577 + i
			print "],\"numDependencies\":" n - 1 "}}"
		}'
	} >s
	few_seconds() { (ulimit -t 10 && exec "$@"); }
	run_sep few_seconds hrr-cat --slice seq=2 s
	status_is 0
	[ "$(seqs <"$T/.out")" = '1 2 ' ]
	run_sep few_seconds hrr-cat -c --slice seq=60004 s
	status_is 0
	out_is 60002
}

@test "slice: of every program, slices of launches and outputs are small, the same again, and replay exactly" {
	need_prog hrr-capture hrr-play
	need_emu
	need_apps saxpy
	# HRR_T_SLICES=all: every launch and output of each.
	for a in saxpy modlaunch structarg streams graphcap graphnodes graphedit graphsym hostreg symbols pitched vmm managed waitvalue; do
		[ -x "$APPS/$a" ] || continue
		run_sep hrr-capture -d emu -o $a.hrr -- "$APPS/$a"
		status_is 0
		all=$(hrr-cat -c $a.hrr)
		places=$(hrr-cat $a.hrr | jq -r 'if .output then .output elif .seq and (.kernel or .kernels) then .seq else empty end' | sort -un)
		[ "${HRR_T_SLICES-}" = all ] || places=$(echo "$places" | awk '{ x[NR] = $1 } END { print x[1]; if (NR > 2) print x[int(NR / 2) + 1]; if (NR > 1) print x[NR] }')
		for seq in $places; do
			rm -rf s.hrr again.hrr
			run_sep hrr-cat --slice seq=$seq -o s.hrr $a.hrr
			echo "$a $seq"
			status_is 0
			[ "$(hrr-cat -c s.hrr)" -le "$all" ]
			[ "$(du -sb s.hrr | cut -f 1)" -le "$(du -sb $a.hrr | cut -f 1)" ]
			hrr-cat -q --slice seq=$seq -o again.hrr $a.hrr
			diff -r s.hrr again.hrr
			run_sep hrr-play -d emu s.hrr
			status_is 0
		done
	done
}

@test "slice: a node's number that comes again, its graph destroyed, is another node" {
	need_prog hrr-capture hrr-play
	need_emu
	need_apps graphedit
	run_sep hrr-capture -d emu -o g.hrr -- "$APPS/graphedit"
	status_is 0
	# The kernel node asked for and changed gets the number of a node that was in another graph.
	asked=$(hrr-cat g.hrr | jq -r 'select(.api=="hipGraphGetNodes") | .args.nodes[1]')
	old=$(hrr-cat g.hrr | jq -rs '[.[] | select(.api=="hipGraphGetNodes") | .args.nodes[]] as $asked |
		[.[] | select(.seq > 40 and .seq < 71) | .args.pGraphNode // empty | select(IN($asked[]) | not)][0]')
	launch=$(hrr-cat g.hrr | jq -s '([.[] | select(.api=="hipGraphGetNodes") | .seq][0]) as $n |
		[.[] | select(.api=="hipGraphLaunch" and .seq > $n) | .seq][0]')
	[ -n "$asked" ] && [ -n "$old" ] && [ "$launch" -gt 0 ]
	sed -i "s/$asked/$old/g" g.hrr/*/events.jsonl
	hrr-cat -q --slice seq="$launch" -o s.hrr g.hrr
	run_sep hrr-play -d emu s.hrr
	status_is 0
	[ "$(hrr-cat -c -e 'api=hipGraphGetNodes' s.hrr)" = 1 ]
}
