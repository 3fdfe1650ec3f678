# hrr-play: short streams written by hand, for what recorded programs rarely do
load helper

setup() {
	common_setup
	need_prog hrr-play
	need_emu
}

# stream LINE...: a stream in ./run. A line is API and what stands in its args, or a whole record.
stream() {
	local n=0 line
	{
		echo '{"hrr":1,"pid":1}'
		for line; do
			case $line in
			'{'*) echo "$line" ;;
			*)
				n=$((n + 1))
				printf '{"seq":%d,"t":%d,"dur":1,"tid":1,"api":"%s","args":{%s}}\n' \
					"$n" "$n" "${line%% *}" "$([ "$line" = "${line%% *}" ] || echo "${line#* }")"
				;;
			esac
		done
		printf '{"end":"exit","t":99,"calls":%d,"outputs":0,"regions":0,"lost":0,"notRecorded":{}}\n' "$n"
	} >run
}

@test "hrr-play: a node that is no good spoils its own capture, not another one that is open" {
	local bad
	for bad in 1 2; do
		stream \
			'hipMalloc "ptr":"0x610000100000","size":4096' \
			'hipStreamCreate "stream":"0x51"' \
			'hipStreamCreate "stream":"0x52"' \
			'hipStreamBeginCapture "stream":"0x51","mode":"hipStreamCaptureModeRelaxed"' \
			'hipStreamBeginCapture "stream":"0x52","mode":"hipStreamCaptureModeRelaxed"' \
			'hipStreamGetCaptureInfo_v2 "stream":"0x5'$bad'","captureStatus_out":1,"id_out":2,"graph_out":"0xa'$bad'","dependencies_out":null,"numDependencies_out":null' \
			'hipGraphAddMemsetNode "pGraphNode":"0xb1","graph":"0xa'$bad'","pDependencies":null,"numDependencies":0,"pMemsetParams":{"dst":"0x620000100000","elementSize":4,"height":1,"pitch":0,"value":0,"width":16}' \
			'hipStreamEndCapture "stream":"0x51","pGraph":"0xa1"' \
			'hipStreamEndCapture "stream":"0x52","pGraph":"0xa2"' \
			'hipGraphInstantiateWithFlags "pGraphExec":"0xc1","graph":"0xa1","flags":0' \
			'hipGraphInstantiateWithFlags "pGraphExec":"0xc2","graph":"0xa2","flags":0' \
			'hipGraphLaunch "graphExec":"0xc1","stream":"0x0"' \
			'hipGraphLaunch "graphExec":"0xc2","stream":"0x0"'
		run_sep hrr-play -k -d emu run
		status_is 1
		err_has "graph 0xa$bad (executable 0xc$bad) is not launched: its node of call 7 (hipGraphAddMemsetNode) could not be rebuilt"
		err_lacks "graph 0xa$((3 - bad)) "
		err_like "11 replayed, .* 1 refused, 1 failed"
	done
}
