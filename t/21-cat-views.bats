# shellcheck disable=SC2086,SC2016 # $S has no blanks
# hrr-cat: --info, --text, --csv, --timeline, --follow.
load helper

setup() {
	common_setup
	need_prog hrr-cat
	need_cmd jq
	cp -r "$ROOT/t/data/streams/small" small
	S=small/pid-4242
}

@test "cat --info: processes, calls, failures, kernels, bytes, what was not recorded" {
	run_sep hrr-cat --info small
	status_is 0
	no_err
	out_has 'small: complete'
	out_has $'process 0\n  pid       4242\n  command   ./saxpy 1 2\n  started   2025-11-29 22:06:40 UTC'
	out_has '  library   libamdhip64.so.5, HIP 5'
	out_has $'  calls     9, 1 failed\n  outputs   1, 0 with unknown bytes\n  regions   3\n  h2d       16 bytes in 1 copies'
	out_has '          1 hipMalloc hipErrorOutOfMemory'
	out_has $'kernels\n          1 _Z5upperPc'
	out_has $'not recorded\n          2 hipTexObjectCreate'
	run_sep bash -c "head -c 1500 $S/events.jsonl | hrr-cat --info"
	status_is 0
	out_has '-: cut short'
}

@test "cat --info: a handle that a call returns is no failure" {
	{
		head -n 1 $S/events.jsonl
		echo '{"seq":1,"t":0,"dur":0,"tid":1,"api":"__hipRegisterFatBinary","ret":"0x7f9f4d511f40","args":{"data":"0x1000"}}'
		echo '{"seq":2,"t":1,"dur":0,"tid":1,"api":"hipFree","ret":"hipErrorInvalidValue","args":{"ptr":"0x1000"}}'
		echo '{"seq":3,"t":2,"dur":0,"tid":1,"api":"hipFree","ret":"none","args":{"ptr":"0x1000"}}'
		echo '{"seq":4,"t":3,"dur":0,"tid":1,"api":"hipGetErrorName","ret":"hipErrorInvalidValue","args":{"hip_error":"hipErrorInvalidValue"}}'
		echo '{"seq":5,"t":3,"dur":0,"tid":1,"api":"hipGetErrorString","ret":"invalid argument","args":{"hipError":"hipErrorInvalidValue"}}'
	} >ret.jsonl
	run_sep hrr-cat --info ret.jsonl
	out_has $'  calls     5, 2 failed\n'
	out_lacks '__hipRegisterFatBinary 0x'
	[ "$(hrr-cat -c -e 'ret!=hipSuccess' ret.jsonl 2>/dev/null)" = 2 ]
	[ "$(hrr-cat -c -e 'ret=0x7f*' ret.jsonl 2>/dev/null)" = 1 ]
}

@test "cat --info: what an archive does not say is not recorded" {
	sed '/"runtime"/s/"library":"[^"]*",//' $S/events.jsonl >bare
	run_sep hrr-cat --info bare
	out_has $'  library   not recorded, HIP 5\n'
}

@test "cat --info: counts what a selector leaves" {
	run_sep hrr-cat --info -e @copy $S
	out_has '  calls     2, 0 failed'
	out_lacks hipMalloc
	out_has "$S: complete; of it, what was selected"
	hrr-cat -e @copy $S >copies
	run_sep hrr-cat --info copies
	out_has $'copies: filtered\n'
	run_sep hrr-cat --info -e 'api=*' $S
	out_has "$S: complete"$'\n'
}

@test "cat --text, --timeline: the end record counts what is shown" {
	for how in '-e @copy' '--last 2' '--first 2' '--slice seq=7'; do
		n=$(hrr-cat -c $how $S)
		run_sep hrr-cat --text $how $S
		status_is 0
		out_has "end=filtered, "
		out_has " calls=$n,"
	done
	run_sep hrr-cat --text $S
	out_has 'end=complete, '
}

@test "cat --demangle: kernels by their C++ name" {
	ldconfig -p | grep -q libstdc++.so.6 || skip 'no libstdc++ here'
	run_sep hrr-cat --info --demangle $S
	out_has 'upper(char*)'
	run_sep hrr-cat --text --demangle -e @launch $S
	out_has '  upper(char*) grid=[1,1,1] block=[16,1,1] lds=0'
	run_sep hrr-cat --demangle $S
	status_is 2
}

@test "cat --text: a line per record, control characters masked" {
	run_sep hrr-cat --text --no-sidecars $S
	status_is 0
	[ "$(wc -l <"$T/.out")" -eq "$(wc -l <$S/events.jsonl)" ]
	out_has '7 0.007000 ms +900 ns tid 4242  hipMemcpy(dst=0x55d0d000, src=0x7f0000000000, sizeBytes=16, kind=hipMemcpyDeviceToHost) d2h'
	out_has '  output of 7: 16 bytes to 0x55d0d000, xxh128:add4d3ce7bf0ff0c624a7c159d41e475'
	out_has 'hipMalloc(size=9007199254740991) = hipErrorOutOfMemory'
	sed 's/first half/\\u001b[2Jx\\n/' $S/events.jsonl >odd
	run_sep hrr-cat --text odd
	[[ $out != *$'\e'* ]]
	out_has 'tag=\x1b[2Jx\x0a'
	[ "$(wc -l <"$T/.out")" -eq "$(wc -l <odd)" ]
}

@test "cat --csv: calls and outputs, quoted where it has to be" {
	run_sep hrr-cat --csv $S
	status_is 0
	[ "$(wc -l <"$T/.out")" -eq 11 ]
	out_has $'call,0,5,5000,500,4243,hipLaunchKernel,,0x6000,,,_Z5upperPc,"[1,1,1]","[16,1,1]",,\r'
	out_has $'output,0,7,7900,,4242,,,,16,,,,,0x55d0d000,xxh128:add4d3ce7bf0ff0c624a7c159d41e475\r'
	sed 's/_Z5upperPc/a\\"b,c/' $S/events.jsonl >odd
	run_sep hrr-cat --csv odd
	out_has ',"a""b,c",'
}

@test "cat --csv: as it is in a pipe, masked on a terminal" {
	need_cmd script
	{
		head -n 1 $S/events.jsonl
		echo '{"seq":1,"t":0,"dur":0,"tid":1,"api":"hipLaunchKernel","args":{},"kernel":{"name":"k\u001b[2J","grid":[1,1,1],"block":[1,1,1],"lds":0,"args":[]}}'
	} >esc.jsonl
	run_sep hrr-cat --csv esc.jsonl
	out_has $'k\x1b[2J'
	need_terminal
	run_sep script -qec 'hrr-cat --csv esc.jsonl' /dev/null
	out_has 'k\x1b[2J'
	out_lacks $'\x1b[2J'
}

@test "cat --timeline: JSON with threads, streams, kernels and copies" {
	run_sep hrr-cat --timeline small
	status_is 0
	cp "$T/.out" trace
	[ "$(jq '.traceEvents | length' trace)" -eq 20 ]
	[ "$(jq -c '.traceEvents[] | select(.cat=="kernel") | [.name,.pid,.ts,.dur]' trace)" = '["_Z5upperPc",1000000000,5,0.5]' ]
	[ "$(jq -c '.traceEvents[] | select(.cat=="copy") | .name' trace | tr -d '\n')" = '"copy h2d""copy d2h"' ]
	[ "$(jq -c '.traceEvents[] | select(.name=="hipDeviceSynchronize") | .ts' trace)" = 8.5 ]
	[ "$(jq -c '.traceEvents[] | select(.name=="thread_name") | .args.name' trace | tr -d '\n')" = '"null stream""stream 0x6000"' ]
	run_sep hrr-cat --timeline -e 't=5us..6us' $S
	[ "$(jq -r '.traceEvents[] | select(.cat=="call") | .name' <"$T/.out" | tr '\n' ' ')" = 'hipLaunchKernel hipStreamSynchronize ' ]
	run_sep bash -c "head -n 1 $S/events.jsonl | hrr-cat --timeline | jq -c '.traceEvents | length'"
	out_is 2
}

@test "cat --timeline: a t0 past 64 bits moves nothing" {
	for t0 in 1000000005 18446744074709551621; do # the second is 2^64 more
		cat >two.jsonl <<-E
			{"hrr":1,"p":0,"pid":1,"command":[],"t0":"5","blobs":"/"}
			{"hrr":1,"p":1,"pid":2,"command":[],"t0":"$t0","blobs":"/"}
			{"seq":1,"p":1,"t":2000,"dur":1,"tid":1,"api":"hipInit","args":{}}
		E
		run_sep hrr-cat --timeline two.jsonl
		status_is 0
		jq '.traceEvents[] | select(.ph=="X") | .ts' "$T/.out" >>ts
	done
	[ "$(tr '\n' ' ' <ts)" = '1000002 2 ' ]
}

@test "cat --timeline: a bad line in the middle ends the trace, which stays JSON" {
	{ head -n 3 $S/events.jsonl; echo '{"seq":'; } >bad.jsonl
	run_sep hrr-cat --timeline bad.jsonl
	status_is 2
	err_has 'bad.jsonl:4: '
	cp "$T/.out" trace
	jq -e '.traceEvents | length > 2' trace
	echo '{"seq":' >first.jsonl
	run_sep hrr-cat --timeline first.jsonl
	status_is 2
	no_out
}

@test "cat: views exclude each other and -o and -c" {
	for x in '--info --text' '--csv -c' '--info -o x' '--pack --unpack' '--redact' '--repair' '--unpack'; do
		run_sep hrr-cat $x $S
		echo "$x"
		status_is 2
		no_out
	done
	[ ! -e x ]
}

# The archive grow, with a process 1, that the process $writer is recording.
being_recorded() {
	sleep 300 &
	writer=$!
	mkdir -p grow/pid-1 grow/blobs
	echo "{\"hrr-archive\":1,\"state\":\"running\",\"writer\":$writer,\"boot\":\"$(cat /proc/sys/kernel/random/boot_id)\"}" >grow/manifest.json
}

@test "cat --follow: waits for a running recorder and ends when it has gone" {
	being_recorded
	head -n 3 $S/events.jsonl >grow/pid-1/events.jsonl
	hrr-cat --follow grow >got 2>err &
	cat_pid=$!
	wait_lines() {
		for i in $(seq 200); do
			[ "$(wc -l <got)" -lt "$1" ] || return 0
			sleep 0.05
		done
		return 1
	}
	wait_lines 3
	sed -n 4,6p $S/events.jsonl >>grow/pid-1/events.jsonl
	wait_lines 6
	kill $writer
	wait $writer || true
	for i in $(seq 200); do
		kill -0 $cat_pid 2>/dev/null || break
		sleep 0.05
	done
	[ ! -e /proc/$cat_pid ] || grep -q ') Z' /proc/$cat_pid/stat
	wait $cat_pid
	[ "$(wc -l <got)" -eq 6 ]
	[ "$(cat err)" = 'hrr-cat: grow: cut short: no end record' ]
}

@test "cat --follow: processes that begin later are followed too, and a quiet one keeps nobody waiting" {
	being_recorded
	grep -v '"note"' $S/events.jsonl >all # that one has a p of its own
	process() { # PID: of a stream, as that process's
		sed "s/\"pid\":[0-9]*/\"pid\":$1/" all
	}
	process 1 | head -n 3 >grow/pid-1/events.jsonl
	hrr-cat --follow grow >got 2>err &
	cat_pid=$!
	has_lines() { # N P
		for i in $(seq 200); do
			[ "$(jq -s "map(select(.p == $2)) | length" got)" -lt "$1" ] || return 0
			sleep 0.05
		done
		return 1
	}
	has_lines 3 0
	# One that comes and ends, while the first says nothing.
	mkdir grow/pid-2
	process 2 >grow/pid-2/events.jsonl
	all=$(wc -l <all)
	has_lines "$all" 1
	kill -0 $cat_pid
	# Its events come later than its folder.
	mkdir grow/pid-3
	sleep 0.2
	process 3 | head -n 2 >grow/pid-3/events.jsonl
	has_lines 2 2
	process 1 | tail -n +4 >>grow/pid-1/events.jsonl
	has_lines "$all" 0
	process 3 | tail -n +3 >>grow/pid-3/events.jsonl
	kill $writer
	wait $writer || true
	wait $cat_pid
	[ "$(jq -s -c 'map(select(.hrr) | [.p, .pid])' got)" = '[[0,1],[1,2],[2,3]]' ]
	[ "$(wc -l <got)" -eq $((3 * all)) ]
	for p in 0 1 2; do
		jq -c "select(.p == $p) | del(.p, .pid, .blobs)" got >one
		jq -c 'del(.pid, .blobs)' all | cmp - one
	done
	[ ! -s err ]
}

@test "cat --follow: ends with the end record of an archive that is complete" {
	LIMIT=20 run_sep hrr-cat --follow -c small
	status_is 0
	out_is 11
}
