# hrr-capture: what it records, and how it behaves as a command. Most tests run
# t/stub (a HIP run time that does nothing); the last ones programs on the CPU run time.
load helper

setup_file() {
	local cc=${CC:-cc}
	build_stub
	$cc -std=gnu11 -O1 -o "$STUB/dl" "$ROOT/t/stub/dl.c" -ldl
	$cc -std=gnu11 -O1 -o "$STUB/proc" "$ROOT/t/stub/proc.c" -ldl
	$cc -std=gnu11 -O1 -shared -fPIC -Wl,-soname,libroctx64.so.4 \
		-o "$STUB/libroctx64.so.4" "$ROOT/t/stub/roctx.c"
	$cc -std=gnu11 -O1 -o "$STUB/marks" "$ROOT/t/stub/marks.c" \
		"$STUB/libamdhip64.so.5" "$STUB/libroctx64.so.4" -ldl
	$cc -std=gnu11 -O1 -shared -fPIC -o "$STUB/libdeep.so" "$ROOT/t/stub/deep.c" \
		"$STUB/libamdhip64.so.5"
}

setup() {
	common_setup
	need_prog hrr-capture
	export LD_LIBRARY_PATH=$STUB
}

# The one process's stream of an archive.
events() { cat "$1"/pid-*/events.jsonl; }
# Values of FIELD, one a line: jq on each line.
pick() { jq -r "$1"; }

@test "capture: each call is a line, numbered from 1 without gaps" {
	run_sep hrr-capture -o a.hrr -- "$STUB/calls" small 5
	status_is 0
	no_out
	err_has "a.hrr: 5 calls and 0 outputs recorded"
	[ "$(events a.hrr | jq -c 'select(.seq)|[.seq,.api,.args]' | tr '\n' ' ')" = \
		'[1,"hipGetDevice",{"deviceId":0}] [2,"hipGetDevice",{"deviceId":0}] [3,"hipGetDevice",{"deviceId":0}] [4,"hipGetDevice",{"deviceId":0}] [5,"hipGetDevice",{"deviceId":0}] ' ]
	[ "$(events a.hrr | head -1 | jq -r '.command|join(" ")')" = "$STUB/calls small 5" ]
	[ "$(events a.hrr | tail -1 | jq -c '[.end,.calls,.outputs,.lost]')" = '["complete",5,0,0]' ]
	[ "$(jq -r .state a.hrr/manifest.json)" = complete ]
	[ ! -e a.hrr/.recording ]
}

@test "capture: the archive is nobody else's to read" {
	run_sep hrr-capture -q -o a.hrr -- "$STUB/calls" copies 1
	status_is 0
	no_err
	[ "$(stat -c %a a.hrr a.hrr/blobs a.hrr/pid-* | sort -u)" = 700 ]
	[ "$(stat -c %a a.hrr/pid-*/events.jsonl)" = 600 ]
	[ "$(find a.hrr/blobs -type f -printf '%m\n' | sort -u)" = 400 ]
}

@test "capture: a copy's bytes go in, what it brings comes out" {
	run_sep hrr-capture -q -o a.hrr -- "$STUB/calls" copies 2 1000
	status_is 0
	[ "$(events a.hrr | jq -c 'select(.dir)|[.args.kind,.dir,.args.sizeBytes]' | tr '\n' ' ')" = \
		'["hipMemcpyHostToDevice","h2d",1000] ["hipMemcpyDeviceToHost","d2h",1000] ["hipMemcpyHostToDevice","h2d",1000] ["hipMemcpyDeviceToHost","d2h",1000] ' ]
	[ "$(events a.hrr | jq -r 'select(.dir=="h2d").blobs.src')" = \
		"$(events a.hrr | jq -r 'select(.output).blob')" ]
	[ "$(events a.hrr | jq -c 'select(.output)|[.output,.size]' | tr '\n' ' ')" = '[3,1000] [5,1000] ' ]
}

@test "capture: big payloads are named by their bytes, through files and through any arena" {
	need_cmd xxhsum
	local size
	for size in 0 64K 3M 128M; do
		run_sep hrr-capture -q --arena-size $size -o $size.hrr -- "$STUB/calls" copies 20 1000000
		status_is 0
		[ "$(find $size.hrr/blobs -type f | wc -l)" -eq 20 ]
		for f in "$size".hrr/blobs/*/*; do
			[ "$(xxhsum -q -H2 "$f" | cut -d' ' -f1)" = "${f##*/}" ]
		done
		events $size.hrr | jq -c 'select(.seq or .output)|[.api,.output,.size,.blob,.blobs.src]' >$size
		cmp 0 $size
		[ ! -e $size.hrr/.recording ]
	done
	[ "$(events 0.hrr | jq -r 'select(.output).size' | sort | uniq -c | tr -s ' ')" = ' 20 1000000' ]
}

@test "capture: big payloads need no file of their own while the arena has room" {
	hrr-capture -q -o a.hrr -- "$STUB/calls" payload 100 1000000 &
	local c=$! i seen=
	for i in $(seq 500); do
		[ -z "$(compgen -G 'a.hrr/.recording/p*.a')" ] || seen=1
		[ -z "$(compgen -G 'a.hrr/.recording/p*.f*')" ]
		kill -0 "$c" 2>/dev/null || break
		sleep 0.01
	done
	wait "$c"
	[ "$seen" = 1 ]
}

@test "capture: a child's big payloads after fork, beside its parent's" {
	run_sep hrr-capture -q -o a.hrr -- "$STUB/calls" forkcopies 5 1000000
	status_is 0
	for f in a.hrr/pid-*/events.jsonl; do
		[ "$(jq -c 'select(.dir=="h2d").blobs.src' "$f" | sort -u | wc -l)" -eq 5 ]
		[ "$(jq -r .end "$f" | tail -1)" = complete ]
	done
	[ "$(echo a.hrr/pid-* | wc -w)" -eq 2 ]
	[ "$(find a.hrr/blobs -type f | wc -l)" -eq 10 ]
}

@test "capture: -o - is a stream with nothing else in it" {
	run_sep hrr-capture -o - -b blobs -- "$STUB/calls" copies 1
	status_is 0
	[ "$(jq -R -c 'fromjson|type' "$T/.out" | sort -u)" = '"object"' ]
	[ "$(head -1 "$T/.out" | jq -r .blobs)" = "$T/blobs" ]
	[ "$(tail -1 "$T/.out" | jq -r .end)" = complete ]
	[ "$(find blobs -type f | wc -l)" -eq 1 ]
	[ -z "$(find blobs -name '.hrr-*')" ]
}

@test "capture: with -o - the program's own output goes to standard error" {
	run_sep hrr-capture -q -o - -b blobs -- sh -c "echo mine; exec '$STUB/calls' small 1"
	status_is 0
	err_is mine
	[ "$(jq -R -c 'fromjson|type' "$T/.out" | sort -u)" = '"object"' ]
}

@test "capture: -o - on a terminal shows no control characters and none that turn text around" {
	need_cmd script
	need_terminal
	local odd=$'\u202e\u200f\u009b2J\u007f'
	run_sep hrr-capture -q -o - -b bl -- "$STUB/calls" small "1${odd}"
	out_has "$odd"
	run_sep script -qec "stty -opost; hrr-capture -q -o - -b bl -- '$STUB/calls' small '1${odd}'" /dev/null
	status_is 0
	out_has '"1\xe2\x80\xae\xe2\x80\x8f\xc2\x9b2J\x7f"]'
	out_lacks "$odd"
	out_has '"api":"hipGetDevice"'
}

@test "capture: -o - without -b makes a folder for blobs and names it" {
	run_sep hrr-capture -o - -- "$STUB/calls" copies 1
	status_is 0
	err_like 'blobs go to (/[^ ]*)'
	d=$(head -1 "$T/.out" | jq -r .blobs)
	[ -d "$d" ]
	err_has "blobs go to $d"
}

@test "capture: a reader that goes away does not disturb the program" {
	run_sep sh -c "{ hrr-capture -q -o - -b blobs -- '$STUB/calls' small 300000; echo \$? >code; } | head -1"
	[ "$(cat code)" = 0 ]
}

@test "capture: a reader that goes away is said, and counts are not made up" {
	hrr-capture -o - -b blobs -- "$STUB/calls" small 300000 2>err | head -n 1 >/dev/null
	[ "$(grep -c 'nobody reads standard output' err)" -eq 1 ]
	[ "$(wc -l <err)" -eq 1 ]
}

@test "capture: hrr-capture gives back all memory and reads none that is not its own" {
	need_cmd valgrind
	[ -z "${HRR_T_ASAN:-}" ] || skip "valgrind and a sanitizer do not go together"
	local how
	for how in "-- $STUB/calls copies 3 100000" "--only dir=d2h -- $STUB/calls pinned 1" \
		"--window 0.1 -- $STUB/calls fork" "-- true" "-- nosuchcommand"; do
		rm -rf a.hrr
		# shellcheck disable=SC2086
		run_sep valgrind -q --leak-check=full --error-exitcode=99 \
			--show-leak-kinds=definite,indirect,possible --errors-for-leak-kinds=definite,indirect,possible \
			"$BUILD/bin/hrr-capture" -q -o a.hrr $how
		[ "$status" -ne 99 ] || saw "$how"
	done
}

@test "capture: a limit on the size of files is no signal for the program" {
	run_sep bash -c "ulimit -f 100; hrr-capture -o a.hrr -- '$STUB/calls' small 100"
	status_is 0
	err_has "lost: 100 records"
	run_sep bash -c "ulimit -f 1100; hrr-capture --arena-size 0 -o b.hrr -- '$STUB/calls' copies 3 3000000"
	status_is 0
	err_has "lost: 6 records, 18000000 bytes"
	[ "$(events b.hrr | grep -c '"output".*"unknown"')" -eq 3 ]
}

@test "capture: out of descriptors: all is recorded, or it is said and counted" {
	local n lines failures=0
	for n in 5 6 7 8 9 10 11 12; do
		# shellcheck disable=SC2016 # $PPID is hrr-capture
		N=$n run_sep hrr-capture -o $n.hrr -- \
			sh -c 'prlimit --nofile=$N:$N --pid $PPID && "$STUB/calls" threads 5'
		lines=$(cat $n.hrr/pid-*/events.jsonl 2>/dev/null | grep -c '^{"seq":' || true)
		if [ "$status" -eq 0 ]; then
			[ "$lines" -eq 320 ]
		else
			status_is 125
			err_has "Too many open files"
			failures=$((failures + 1))
			[[ $err != *manifest.json* ]] || continue # not even that
			err_has "$lines calls and 0 outputs recorded"
			[ "$(jq -r .state $n.hrr/manifest.json)" = cut ]
		fi
	done
	[ "$failures" -gt 0 ]
}

@test "capture: signals that were ignored before stay so for the program" {
	(
		trap '' HUP
		exec hrr-capture -q -o a.hrr -- sh -c "kill -HUP \$PPID; kill -HUP \$\$; '$STUB/calls' small 3"
	)
	[ "$(events a.hrr | grep -c '^{"seq":')" -eq 3 ]
}

@test "capture: the exit code is the program's" {
	run_sep hrr-capture -q -o a.hrr -- "$STUB/calls" exit 7
	status_is 7
	run_sep hrr-capture -q -o b.hrr -- "$STUB/calls" signal 15
	status_is 143
	[ "$(events b.hrr | tail -1 | jq -r .end)" = cut ]
	[ "$(jq -r .state b.hrr/manifest.json)" = cut ]
}

@test "capture: a command that cannot be run is 127 or 126 and leaves nothing" {
	run_sep hrr-capture -o a.hrr -- ./nowhere
	status_is 127
	err_is "hrr-capture: ./nowhere: cannot be run: No such file or directory"
	[ ! -e a.hrr ]
	: >plain
	run_sep hrr-capture -o a.hrr -- ./plain
	status_is 126
	err_is "hrr-capture: ./plain: cannot be run: Permission denied"
	[ ! -e a.hrr ]
}

@test "capture: misuse is 125" {
	run_sep hrr-capture
	status_is 125
	no_out
	run_sep hrr-capture -d gpu true
	status_is 125
	err_has "-d: emu or rocm, not gpu"
	run_sep hrr-capture --ring-size 100000 true
	status_is 125
	run_sep hrr-capture -b x -o y true
	status_is 125
	run_sep hrr-capture --host-memory some true
	status_is 125
	run_sep hrr-capture --recover x true
	status_is 125
	run_sep hrr-capture --max-bytes 12Q true
	status_is 125
	err_has "--max-bytes: not a size like 4096 or 4K: 12Q"
	run_sep hrr-capture --min-free 20000000T true
	status_is 125
}

@test "capture: an archive that is there is refused, and the program not run" {
	mkdir a.hrr
	run_sep hrr-capture -o a.hrr -- touch ran
	status_is 125
	err_has "it is there already"
	[ ! -e ran ]
}

@test "capture: a program without HIP leaves nothing" {
	run_sep hrr-capture -o a.hrr -- sh -c 'exit 3'
	status_is 3
	err_is "hrr-capture: no HIP call was seen: nothing is recorded"
	[ ! -e a.hrr ]
}

@test "capture: %p, %h and %% in a name" {
	run_sep hrr-capture -q -o 'r-%p-%h-%%.hrr' -- "$STUB/calls" small 1
	status_is 0
	pid=$(events r-*.hrr | head -1 | jq .pid)
	[ -d "r-$pid-$(hostname)-%.hrr" ]
}

@test "capture: without -o the name is the command's with its pid" {
	run_sep hrr-capture -q "$STUB/calls" small 1
	status_is 0
	[ -n "$(find . -maxdepth 1 -type d -name 'calls.*.hrr')" ]
}

@test "capture: 64 threads, nothing lost, each in its order" {
	run_sep hrr-capture -q -o a.hrr -- "$STUB/calls" threads 500
	status_is 0
	[ "$(events a.hrr | tail -1 | jq -c '[.end,.calls,.lost]')" = '["complete",32000,0]' ]
	events a.hrr | jq -r 'select(.seq).seq' | awk '$1 != NR { bad = 1 } END { exit bad }'
	[ "$(events a.hrr | jq -r 'select(.seq).tid' | sort -u | wc -l)" -eq 64 ]
}

@test "capture: a small ring holds the program up, not back" {
	run_sep hrr-capture -q --ring-size 64K -o a.hrr -- "$STUB/calls" small 20000
	status_is 0
	[ "$(events a.hrr | tail -1 | jq -c '[.end,.calls,.lost]')" = '["complete",20000,0]' ]
}

@test "capture: parent and forked child have a stream each" {
	run_sep hrr-capture -q -o a.hrr -- "$STUB/calls" fork
	status_is 0
	[ "$(cat a.hrr/pid-*/events.jsonl | jq -c 'select(.end)|[.end,.calls]' | tr '\n' ' ')" = \
		'["complete",3] ["complete",3] ' ]
}

@test "capture: a second image of one pid has its own stream" {
	run_sep hrr-capture -q -o a.hrr -- "$STUB/calls" exec
	status_is 0
	d=$(echo a.hrr/pid-*.1)
	[ "$(tail -1 "$d/events.jsonl" | jq .calls)" = 3 ]
	[ "$(tail -1 "${d%.1}/events.jsonl" | jq .calls)" = 2 ]
	[ "$(head -1 "$d/events.jsonl" | jq .image)" = 1 ]
}

calls_and_ends() { cat "$1"/pid-*/events.jsonl | jq -c 'select(.end)|[.end,.calls,.lost]' | sort | tr '\n' ' '; }

@test "capture: calls before main, in exit handlers and after" {
	CALLS_EARLY=1 run_sep hrr-capture -q -o a.hrr -- "$STUB/calls" edges
	status_is 0
	[ "$(calls_and_ends a.hrr)" = '["complete",4,0] ' ]
}

@test "capture: many short threads share few rings, calls of their key destructors are there" {
	run_sep hrr-capture -q -o a.hrr -- "$STUB/calls" short 200
	status_is 0
	[ "$(calls_and_ends a.hrr)" = '["complete",400,0] ' ]
	[ "$(events a.hrr | jq -r 'select(.seq).tid' | sort -u | wc -l)" -eq 200 ]
}

@test "capture: a daemon is recorded to its end, the exit code is the command's" {
	run_sep hrr-capture -q -o a.hrr -- "$STUB/calls" daemon
	status_is 5
	[ "$(calls_and_ends a.hrr)" = '["complete",1,0] ["complete",3,0] ' ]
}

@test "capture: vfork and exec: the parent's stream stays its own" {
	run_sep hrr-capture -q -o a.hrr -- "$STUB/calls" vfork
	status_is 0
	[ "$(calls_and_ends a.hrr)" = '["complete",2,0] ["complete",2,0] ' ]
}

@test "capture: a child that is killed takes nothing of its parent's with it" {
	run_sep hrr-capture -q -o a.hrr -- "$STUB/calls" sibling
	status_is 0
	[ "$(cat a.hrr/pid-*/events.jsonl | jq -c 'select(.end)|.calls' | sort | tr '\n' ' ')" = '2 5 ' ]
}

@test "capture: on the machine's own run time: no device, and that is recorded" {
	need_apps saxpy
	[ -e /usr/lib/x86_64-linux-gnu/libamdhip64.so.5 ] || skip "no libamdhip64 here"
	[ ! -e /dev/kfd ] || skip "there is a GPU"
	unset LD_LIBRARY_PATH
	"$APPS/saxpy" >plain 2>&1 && skip "it has a device"
	code=0
	"$APPS/saxpy" >plain 2>&1 || code=$?
	run_sep hrr-capture -q -o a.hrr -- "$APPS/saxpy"
	status_is "$code"
	err_is "$(cat plain)"
	[ "$(events a.hrr | jq -r 'select(.api=="hipGetDeviceCount").ret')" = hipErrorNoDevice ]
}

@test "capture: a merged stream says which process" {
	run_sep hrr-capture -q -o - -b b -- "$STUB/calls" fork
	status_is 0
	[ "$(jq -c 'select(.hrr)|.p' "$T/.out" | tr '\n' ' ')" = 'null 1 ' ]
	[ "$(jq -c 'select(.seq)|.p' "$T/.out" | sort | uniq -c | tr -s ' \n' ' ')" = ' 3 1 3 null ' ]
}

@test "capture: a call that never returned is the last one, ret none" {
	STUB_HANG=1 run_sep hrr-capture -q -o a.hrr -- "$STUB/calls" hang
	status_is 142
	[ "$(events a.hrr | jq -c 'select(.ret)|[.seq,.api,.ret]')" = '[2,"hipStreamSynchronize","none"]' ]
	[ "$(events a.hrr | tail -1 | jq -c '[.end,.calls]')" = '["cut",2]' ]
}

@test "capture: a pinned copy's bytes stand where the program has waited" {
	run_sep hrr-capture -q -o a.hrr -- "$STUB/calls" pinned 2
	status_is 0
	[ "$(events a.hrr | jq -c 'select(.seq or .output)|[.seq,.output]' | tail -2 | tr '\n' ' ')" = \
		'[5,null] [null,4] ' ]
}

@test "capture: a pinned copy nobody waited for is unknown, not guessed" {
	run_sep hrr-capture -q -o a.hrr -- "$STUB/calls" pinned 1
	status_is 0
	[ "$(events a.hrr | jq -c 'select(.output)|[.output,.size,.blob,.unknown]')" = \
		'[4,64,null,"the program ended before it waited"]' ]
}

@test "capture: what comes while another thread waits is told when its own thread has waited" {
	need_emu
	need_apps othersync
	run_sep env -u LD_LIBRARY_PATH hrr-capture -q -d emu -o a.hrr -- "$APPS/othersync"
	status_is 0
	# The kernel's output stands behind its own thread's wait, not in the other one's.
	[ "$(events a.hrr | jq -s 'map(select(.kernel or .output or .api=="hipDeviceSynchronize"))
		| [.[] | if .output then ["output", .tid == $tid] else [.api, true] end]
		' --argjson tid "$(events a.hrr | jq 'select(.kernel).tid')" -c)" = \
		'[["hipLaunchKernel",true],["hipDeviceSynchronize",true],["output",true]]' ]
}

@test "capture: --only writes the calls that fit, their outputs and bytes, and says filtered" {
	run_sep hrr-capture -q --only dir=d2h --only 'hipFree' -o a.hrr -- "$STUB/calls" copies 2 1000000
	status_is 0
	run_sep hrr-capture -q -o b.hrr -- "$STUB/calls" copies 2 1000000
	[ "$(events a.hrr | jq -c 'select(.seq)|[.seq,.api,.dir]' )" = \
		"$(events b.hrr | jq -c 'select(.seq and (.dir=="d2h" or .api=="hipFree"))|[.seq,.api,.dir]')" ]
	[ "$(events a.hrr | jq -c 'select(.output)|[.output,.size,.blob]')" = \
		"$(events b.hrr | jq -c 'select(.output)|[.output,.size,.blob]')" ]
	[ "$(events a.hrr | tail -1 | jq -c '[.end,.calls,.outputs]')" = "[\"filtered\",$(events a.hrr | grep -c '"seq"'),2]" ]
	[ "$(events b.hrr | tail -1 | jq -r .end)" = complete ]
	[ ! -e a.hrr/.recording ]
}

@test "capture: --only leaves no bytes of calls it leaves out, and no outputs" {
	run_sep hrr-capture -q --only dir=h2d -o a.hrr -- "$STUB/calls" pinned 1
	status_is 0
	[ "$(events a.hrr | grep -c '"output"')" = 0 ]
	run_sep hrr-capture -q --only hipMalloc -o b.hrr -- "$STUB/calls" copies 2 1000000
	status_is 0
	[ "$(events b.hrr | jq -c 'select(.seq).api' | sort -u)" = '"hipMalloc"' ]
	[ -z "$(find b.hrr/blobs -type f)" ]
	run_sep hrr-capture -q --only '*' -o c.hrr -- "$STUB/calls" copies 2
	[ "$(events c.hrr | tail -1 | jq -r .end)" = complete ]
	run_sep hrr-capture -q --only 'dir=' -o d.hrr -- touch ran
	status_is 125
	err_has "--only: bad selector"
	[ ! -e ran ]
}

@test "capture: roctx ranges and profiler start and stop are records" {
	local how
	for how in "" dl; do
		rm -rf a.hrr
		# shellcheck disable=SC2086
		run_sep hrr-capture -q -o a.hrr -- "$STUB/marks" $how
		status_is 0
		[ "$(events a.hrr | jq -c 'select(.marker)|[.marker,.id,.text]' | tr '\n' ' ')" = \
			'["push",null,"outer \"range\""] ["profilerStart",null,null] ["mark",null,"mark"] ["start","0x4d","work"] ["stop","0x4d",null] ["profilerStop",null,null] ["pop",null,null] ' ]
		[ "$(events a.hrr | jq -r 'select(.seq or .marker)|.api // .marker' | tr '\n' ' ')" = \
			'hipSetDevice push profilerStart hipGetDevice mark start hipGetDevice stop profilerStop pop hipSetDevice ' ]
		[ "$(events a.hrr | tail -1 | jq -c '[.end,.calls]')" = '["complete",4]' ]
	done
}

@test "capture: --recover goes on with --only" {
	hrr-capture -q --only dir=d2h -o a.hrr -- "$STUB/calls" copies 100000 100 &
	local c=$! i
	until grep -q '"seq"' a.hrr/pid-*/events.jsonl 2>/dev/null; do
		sleep 0.05
	done
	kill -9 "$c"
	while pgrep -f "^$STUB/calls copies 100000 100" >/dev/null; do # the program runs on, and ends
		sleep 0.05
	done
	run_sep hrr-capture -q --recover a.hrr
	status_is 0
	[ "$(events a.hrr | jq -c 'select(.seq).dir' | sort -u)" = '"d2h"' ]
	[ "$(events a.hrr | grep -c '"seq"')" -gt 0 ]
	events a.hrr | jq -c 'select(.seq).seq' >calls
	events a.hrr | jq -c 'select(.output).output' >outputs
	# With nobody to read, recording may end between the last call and its output.
	i=$(($(wc -l <calls) - 1))
	[ "$(head -n "$i" calls)" = "$(head -n "$i" outputs)" ]
	[ "$(events a.hrr | tail -1 | jq .calls)" = "$(events a.hrr | grep -c '"seq"')" ]
}

@test "capture: --profiler-gate writes what lies between start and stop" {
	run_sep hrr-capture -q --profiler-gate -o a.hrr -- "$STUB/marks"
	status_is 0
	[ "$(events a.hrr | jq -c 'select(.seq)|[.seq,.api]' | tr '\n' ' ')" = '[2,"hipGetDevice"] [3,"hipGetDevice"] ' ]
	[ "$(events a.hrr | tail -1 | jq -c '[.end,.calls]')" = '["filtered",2]' ]
	run_sep hrr-capture -q --profiler-gate -o b.hrr -- "$STUB/calls" copies 1
	status_is 0
	[ "$(events b.hrr | tail -1 | jq -c '[.end,.calls,.outputs]')" = '["filtered",0,0]' ]
	[ -z "$(find b.hrr/blobs -type f)" ]
}

@test "capture: what a host function may still write is not taken for a copy's source" {
	run_sep hrr-capture -q -o a.hrr -- "$STUB/calls" hostfn
	status_is 0
	[ "$(events a.hrr | jq -c 'select(.dir)|.blobs != null' | tr '\n' ' ')" = 'true false true true false true true ' ]
	[ "$(events a.hrr | grep -c '"output"')" = 0 ]
	[ "$(events a.hrr | tail -1 | jq -r .end)" = complete ]
}

@test "capture: --window keeps the last part and what it depends on" {
	run_sep hrr-capture --window 1 -o a.hrr -- "$STUB/calls" window 20
	status_is 0
	err_has "a.hrr: 3 calls kept by --window"
	[ "$(events a.hrr | jq -c 'select(.seq)|[.seq,.api,.dir]' | tr '\n' ' ')" = \
		'[2,"hipMalloc",null] [23,"hipMemcpy","h2d"] [24,"hipMemcpy","d2h"] ' ]
	[ "$(events a.hrr | jq -c 'select(.output).output')" = 24 ]
	[ "$(events a.hrr | tail -1 | jq -c '[.end,.calls,.outputs]')" = '["filtered",3,1]' ]
	[ "$(find a.hrr/blobs -type f | wc -l)" -eq 1 ]
	[ -z "$(find a.hrr -name '*.window')" ]
	[ "$(stat -c %a a.hrr/pid-*/events.jsonl)" = 600 ]
	[ "$(jq -r .state a.hrr/manifest.json)" = complete ]
	run_sep hrr-capture -q --window 1e6 -o b.hrr -- "$STUB/calls" copies 2
	status_is 0
	[ "$(events b.hrr | tail -1 | jq -r .end)" = complete ]
}

# cut_twice ARCHIVE: waits until what was recorded first is gone, and then what was first after that.
cut_twice() {
	local first=4 k # an upload to what is released
	for k in 1 2; do
		until [ "$(events "$1" 2>/dev/null | grep -c '^{"seq":')" -gt 20 ] &&
			! events "$1" | grep -q "^{\"seq\":$first,"; do
			sleep 0.05
		done
		first=$(events "$1" | sed -n 's/^{"seq":\([0-9]*\),.*"dir":"h2d".*/\1/p' | sed -n 5p)
	done
}

# What a window has to leave: all blobs there, right and named, and the old upload.
window_is_whole() {
	need_prog hrr-cat
	run_sep hrr-cat --verify "$1"
	out_has " 0 missing, 0 damaged, "
	out_has " 0 records broken"
	[ "$(events "$1" | jq -c 'select(.seq==1 or .seq==2).api' | tr '\n' ' ')" = '"hipMalloc" "hipMemcpy" ' ]
	[ "$(events "$1" | tail -2 | jq -c '.api // .size // .end' | tr '\n' ' ')" = "200000 \"$2\" " ]
	[ "$(events "$1" | tail -1 | jq .calls)" -eq "$(events "$1" | grep -c '^{"seq":')" ]
	[ "$(events "$1" | tail -1 | jq .outputs)" -eq "$(events "$1" | grep -c '^{"output":')" ]
	[ -z "$(find "$1" -name '*.cut')" ]
	[ ! -e "$1/.recording" ]
}

@test "capture: --window holds while the program runs, and keeps what lives" {
	hrr-capture --window 0.2 -o a.hrr -- "$STUB/calls" rolling stop 2>err &
	local c=$!
	cut_twice a.hrr
	touch stop
	wait $c
	window_is_whole a.hrr filtered
	out_has ", 0 orphaned"
}

@test "capture: --window: kills of hrr-capture leave what --recover finishes" {
	local i
	for i in 1 2 3; do
		rm -rf a.hrr stop code
		hrr-capture -q --window 0.2 -o a.hrr -- sh -c "'$STUB/calls' rolling stop; echo \$? >code.part; mv code.part code" &
		local c=$!
		cut_twice a.hrr
		kill -9 $c
		wait $c || true
		touch stop
		until [ -e code ]; do sleep 0.05; done
		[ "$(cat code)" = 0 ]
		run_sep hrr-capture -q --recover a.hrr
		status_is 0
		window_is_whole a.hrr filtered
	done
}

@test "capture: --window: a kill of the program leaves whole lines and their bytes" {
	need_prog hrr-cat
	hrr-capture -q --window 0.2 -o a.hrr -- "$STUB/calls" rolling stop &
	local c=$!
	cut_twice a.hrr
	kill -9 "$(echo a.hrr/pid-* | sed 's/.*pid-//')"
	wait $c || true
	run_sep hrr-cat --verify a.hrr
	out_has " 0 missing, 0 damaged, 0 orphaned, 0 records broken"
	[ "$(jq -r .state a.hrr/manifest.json)" = cut ]
}

@test "capture: --window and --max-bytes: what stays counts, and a limit that bites leaves whole lines" {
	need_prog hrr-cat
	hrr-capture --window 0.2 --max-bytes 40M -o a.hrr -- "$STUB/calls" rolling stop 10000 2>err &
	local c=$!
	# More than the limit has been written by then.
	until [ "$(events a.hrr 2>/dev/null | tail -1 | jq '.seq // .output // 0')" -gt 1200 ]; do sleep 0.1; done
	touch stop
	wait $c
	window_is_whole a.hrr filtered
	rm stop
	(sleep 3; touch stop) &
	run_sep hrr-capture --window 0.2 --max-bytes 1M -o c.hrr -- "$STUB/calls" rolling stop 1000
	status_is 0
	err_has "--max-bytes is reached"
	[ "$(events c.hrr | tail -1 | jq -r .end)" = cut ]
	[ "$(events c.hrr | jq -c 'select(.seq==1 or .seq==2).api' | tr '\n' ' ')" = '"hipMalloc" "hipMemcpy" ' ]
	run_sep hrr-cat --verify c.hrr
	out_has " 0 missing, 0 damaged, 0 orphaned, 0 records broken"
}

@test "capture: --window: a program and its child, each with its own part" {
	need_prog hrr-cat
	hrr-capture -q --window 0.2 -o a.hrr -- "$STUB/calls" rolling stop 2000 fork &
	local c=$! s
	until [ "$(find a.hrr -name events.jsonl | wc -l)" -eq 2 ] &&
		[ "$(grep -l '^{"seq":[0-9]\{4,\},' a.hrr/pid-*/events.jsonl | wc -l)" -eq 2 ] &&
		! grep -q '^{"seq":20,' a.hrr/pid-*/events.jsonl; do
		sleep 0.1
	done
	touch stop
	wait $c
	run_sep hrr-cat --verify a.hrr
	out_has " 0 missing, 0 damaged, 0 orphaned, 0 records broken"
	for s in a.hrr/pid-*/events.jsonl; do
		[ "$(tail -2 "$s" | jq -c '.api // .size // .end' | tr '\n' ' ')" = '200000 "filtered" ' ]
		[ "$(tail -1 "$s" | jq .calls)" -eq "$(grep -c '^{"seq":' "$s")" ]
		# What lives since the beginning.
		[ "$(jq -c 'select(.seq and .dir=="h2d").seq' "$s" | head -1)" -le 4 ]
	done
	[ -z "$(find a.hrr -name '*.cut')" ]
}

@test "capture: --window with what it cannot go with is misuse" {
	local how
	for how in "0:not a number of seconds" "x:not a number of seconds" "1 -o -:needs an archive" \
		"1 --only @copy:does not go with --only" "1 --profiler-gate:does not go with --only"; do
		# shellcheck disable=SC2086
		run_sep hrr-capture --window ${how%%:*} touch ran
		status_is 125
		err_has "${how#*:}"
		[ ! -e ran ]
	done
}

@test "capture: calls that are not recorded are counted" {
	run_sep hrr-capture -o a.hrr -- "$STUB/calls" mipmap
	status_is 0
	[ "$(events a.hrr | tail -1 | jq -c .notRecorded)" = '{"hipGetMipmappedArrayLevel":1}' ]
	err_has "1 call is not recorded: see the end record"
}

@test "capture: HIP bound by dlopen and dlsym" {
	run_sep hrr-capture -q -o a.hrr -- "$STUB/dl"
	status_is 0
	[ "$(events a.hrr | jq -r 'select(.seq).api')" = hipGetDevice ]
}

@test "capture: a library of HIP's for other things is not the run time" {
	printf '%s\n' 'int hiprtcVersion(int *a, int *b);' 'int hiprtcVersion(int *a, int *b) { return *a = *b = 0; }' >rtc.c
	printf '%s\n' 'int hiprtcVersion(int *, int *); int hipGetDevice(int *);' \
		'int main(void) { int d; return hiprtcVersion(&d, &d) || hipGetDevice(&d); }' >main.c
	${CC:-cc} -shared -fPIC -Wl,-soname,libhiprtc.so.6 -o libhiprtc.so.6 rtc.c
	${CC:-cc} -o main main.c ./libhiprtc.so.6 "$STUB/libamdhip64.so.5"
	export LD_LIBRARY_PATH=$STUB:.
	run_sep hrr-capture -q -o a.hrr -- ./main
	status_is 0
	[ "$(events a.hrr | jq -c 'select(.runtime).runtime')" = "{\"library\":\"$STUB/libamdhip64.so.5\",\"major\":5}" ]
}

@test "capture: HIP in a namespace of its own is called itself, not another one" {
	run_sep "$STUB/dl" ""
	status_is 0
	run_sep hrr-capture -q -o a.hrr -- "$STUB/dl" ""
	status_is 0
}

@test "capture: --no-audit leaves dlsym alone, and what is linked is still recorded" {
	run_sep hrr-capture -q --no-audit -o a.hrr -- "$STUB/dl"
	status_is 0
	[ ! -e a.hrr ]
	run_sep hrr-capture -q --no-audit -o a.hrr -- "$STUB/calls" small 3
	status_is 0
	[ "$(events a.hrr | tail -1 | jq .calls)" = 3 ]
}

@test "capture: HIP bound from a library opened RTLD_DEEPBIND" {
	[ -z "${HRR_T_ASAN:-}" ] || skip "the sanitizer refuses RTLD_DEEPBIND"
	run_sep hrr-capture -q -o b.hrr -- "$STUB/dl" "$STUB/libdeep.so"
	status_is 0
	[ "$(events b.hrr | jq -r 'select(.seq).api')" = hipSetDevice ]
}

@test "capture: TERM goes to the program, INT is the program's own" {
	run_sep sh -c "hrr-capture -q -o a.hrr -- sh -c 'trap \"exit 9\" TERM; \"$STUB/calls\" small 1; while :; do sleep 0.05; done' & until [ -n \"\$(find a.hrr -name events.jsonl -size +0 2>/dev/null)\" ]; do sleep 0.05; done; kill -INT \$!; sleep 0.2; kill -TERM \$!; wait \$!"
	status_is 9
	[ "$(events a.hrr | tail -1 | jq -r .end)" = complete ]
}

@test "capture: --max-bytes stops the recording, not the program" {
	run_sep hrr-capture -o a.hrr --max-bytes 100K -- "$STUB/calls" small 100000
	status_is 0
	err_has "recording stopped, the program runs on: --max-bytes is reached"
	[ "$(events a.hrr | tail -1 | jq -r .end)" = cut ]
	events a.hrr | jq -r 'select(.seq).seq' | awk '$1 != NR { bad = 1 } END { exit bad || NR == 0 || NR == 100000 }'
}

@test "capture: sizes are those of selectors" {
	run_sep hrr-capture -o a.hrr --max-bytes 0.1M --ring-size 0.0625M -- "$STUB/calls" small 100000
	status_is 0
	err_has "--max-bytes is reached"
	[ "$(stat -c %s a.hrr/pid-*/events.jsonl)" -lt 1000000 ]
}

@test "capture: of a stream that was not recorded to its end no program says that it was in a call" {
	need_prog hrr-cat
	run_sep hrr-capture -q -o a.hrr --max-bytes 100K -- "$STUB/calls" small 100000
	run_sep hrr-cat -c a.hrr
	err_is "hrr-cat: a.hrr: cut short: the process was killed, or not all of it was recorded"
}

@test "capture: version and devices, once the program has had something of a device" {
	run_sep hrr-capture -q -o a.hrr -- "$STUB/calls" copies 3
	status_is 0
	[ "$(events a.hrr | jq -c 'select(.runtime).runtime|del(.library)' | tr '\n' ' ')" = \
		'{"major":5} {"major":5,"version":50221153,"devices":[{"name":"Stub \"device\"","arch":"gfx90a:xnack-","memory":1000},{"name":"Stub \"device\"","arch":"gfx90a:xnack-","memory":1001}]} ' ]
	[ "$(events a.hrr | jq -r 'select(.runtime).runtime.library' | sort -u)" = "$STUB/libamdhip64.so.5" ]
	STUB_QUERIES=$T/queries run_sep hrr-capture -q -o b.hrr -- "$STUB/calls" small 3
	status_is 0
	[ "$(events b.hrr | jq -c 'select(.runtime).runtime|del(.library)')" = '{"major":5}' ]
	[ "$(cat queries)" = 0 ]
}

@test "capture: calls of its own are queries of facts and nothing else" {
	local what
	for what in "small 10" "copies 3 100000" "pinned 2" "threads 20"; do
		rm -rf a.hrr
		# shellcheck disable=SC2086
		STUB_COUNT=$T/plain "$STUB/calls" $what
		# shellcheck disable=SC2086
		STUB_COUNT=$T/recorded STUB_QUERIES=$T/queries run_sep hrr-capture -q -o a.hrr -- "$STUB/calls" $what
		status_is 0
		[ "$(cat plain)" -gt 0 ]
		[ "$(cat plain)" -eq "$(cat recorded)" ]
		[ "$(cat queries)" -le 5 ] # version and devices, once: nothing that waits
	done
}

@test "capture: the run time gets the program's calls in the program's order" {
	local what
	for what in "copies 3 100000" "pinned 2" "hostfn"; do
		rm -rf a.hrr
		# shellcheck disable=SC2086
		STUB_ORDER=$T/plain "$STUB/calls" $what
		# shellcheck disable=SC2086
		STUB_ORDER=$T/recorded run_sep hrr-capture -q -o a.hrr -- "$STUB/calls" $what
		status_is 0
		[ "$(wc -l <plain)" -gt 3 ]
		cmp plain recorded
		# hipMemcpyAsync of the stub calls hipMemcpy itself.
		events a.hrr | jq -r 'select(.seq).api' >calls
		grep -v -x hipMemcpy plain | cmp - <(grep -v -x hipMemcpy calls)
	done
}

@test "capture: blobs of every line are in place and right" {
	need_cmd xxhsum
	run_sep hrr-capture -q -o a.hrr -- "$STUB/calls" copies 20 300
	status_is 0
	events a.hrr | grep -o 'xxh128:[0-9a-f]*' | sort -u | while IFS=: read -r _ id; do
		f=a.hrr/blobs/$(printf %.2s "$id")/$id
		[ "$(xxhsum -q -H2 "$f" | cut -d' ' -f1)" = "$id" ] || exit 1
	done
}

# --- on the CPU run time ------------------------------------------------------

recorded() { # APP [ARG...]: records it, checks that it and its stream are well
	need_emu
	need_apps "$1"
	unset LD_LIBRARY_PATH
	run_sep hrr-capture -q -d emu -o a.hrr -- "$APPS/$1" "${@:2}"
	status_is 0
	[ "$(events a.hrr | jq -R -c 'fromjson|type' | sort -u)" = '"object"' ] || return 1
	[ "$(events a.hrr | tail -1 | jq -c '[.end,.lost]')" = '["complete",0]' ]
}

@test "capture: a launch has name, object, grid and arguments with their addresses" {
	recorded saxpy
	events a.hrr | jq -c 'select(.api=="hipLaunchKernel")' >launch
	[ "$(jq -c '[.kernel.name,.kernel.block,(.kernel.args|length)]' launch | head -1)" = \
		'["_Z5saxpyifPKfPf",[256,1,1],4]' ]
	[ "$(jq -c '[.kernel.args[].ptr]' launch | head -1)" = '[null,null,[0],[0]]' ]
	id=$(jq -r .kernel.object launch | head -1)
	[ "$(head -c 24 "a.hrr/blobs/${id:7:2}/${id#xxh128:}")" = __CLANG_OFFLOAD_BUNDLE__ ]
}

@test "capture: addresses inside structs are found at any byte offset" {
	recorded structarg
	[ "$(events a.hrr | jq -c 'select(.kernel)|[.kernel.args[].ptr|select(.)]|flatten|length' | sort -n | tail -1)" -ge 2 ]
	events a.hrr | jq -c 'select(.kernel)|.kernel.args[]|select(.size > 8)|.ptr' | grep -q '[1-9]'
}

@test "capture: launches on several devices, each with its kernel" {
	need_emu
	need_apps multidev
	export HRR_EMU_DEVICES=2
	hrr-capture -q -d emu -o a.hrr -- "$APPS/multidev"
	[ "$(events a.hrr | jq -c 'select(.kernels and .ret==null)|[.api,(.args.launchParamsList|length),(.kernels|map([.name,.grid[0],.block[0],(.args|length)]))]')" = \
'["hipExtLaunchMultiKernelMultiDevice",2,[["_Z5scalePfPKffi",4,256,4],["_Z5scalePfPKffi",2,512,4]]]
["hipExtLaunchMultiKernelMultiDevice",2,[["_Z5scalePfPKffi",4,256,4],["_Z5shiftPff",4,256,2]]]
["hipLaunchCooperativeKernelMultiDevice",2,[["_Z6gatherPfPKfS_",4,256,3],["_Z6gatherPfPKfS_",4,256,3]]]' ]
	# The calls that failed are there too, and a list that is none.
	[ "$(events a.hrr | jq -c 'select(.api|tostring|test("MultiDevice"))|.ret' | tr '\n' ' ')" = \
		'null null null "hipErrorInvalidDevice" "hipErrorInvalidHandle" "hipErrorInvalidValue" ' ]
	[ "$(events a.hrr | tail -1 | jq -c '[.end,.lost,.notRecorded]')" = '["complete",0,{}]' ]
	# Every program sees each of the launches.
	[ "$(hrr-cat -c -e kernel=_Z5shift* a.hrr)" = 1 ]
	local s
	s=$(events a.hrr | jq -r 'select(.kernels).args.launchParamsList[1].stream' | head -1)
	[ "$(hrr-cat -c -e "@launch and stream=$s" a.hrr)" = 3 ]
	hrr-cat --text a.hrr | grep -q '_Z5scalePfPKffi grid=\[4,1,1\] block=\[256,1,1\] lds=0  _Z5shiftPff grid'
	hrr-cat --csv a.hrr | grep -q ',_Z5scalePfPKffi;_Z5shiftPff,"\[4,1,1\];\[4,1,1\]","\[256,1,1\];\[256,1,1\]",'
	[ "$(hrr-cat --timeline a.hrr | jq '[.traceEvents[]|select(.cat=="kernel")]|group_by(.tid)|map(length)' -c)" = '[1,6,3]' ]
	hrr-cat --info a.hrr | grep -q '3.*_Z5scalePfPKffi'
	# What one of them wrote is made by the call, and what it is made of comes with it.
	hrr-cat -q --slice '@copy and dir=d2h' -o s.hrr a.hrr
	run_sep hrr-play -d emu s.hrr
	status_is 0
	err_has "Verdict : no difference found: 6 outputs compared, all exact"
	# An upstream archive has a launch for each.
	hrr-cat -q --format hrr8 -o u.hrr a.hrr 2>/dev/null
	run_sep hrr-play -d emu u.hrr
	status_is 0
	err_has "Launches : 6"
	hrr-capture -q -d emu -o b.hrr -- "$APPS/multidev" 2
	run_sep hrr-diff a.hrr b.hrr
	status_is 1
	# One argument of one launch.
	hrr-cat -q -o c.hrr a.hrr
	sed -i 's/"hex":"0000a040"/"hex":"0000b040"/' c.hrr/pid-*/events.jsonl
	run_sep hrr-diff a.hrr c.hrr
	status_is 1
	out_has 'kernels[1].args[1]'
}

@test "capture: a module's image, and launches by params and by extra" {
	recorded modlaunch
	[ "$(events a.hrr | jq -r 'select(.api|startswith("hipModuleLoad")?).blobs.image' | sort -u | grep -c xxh128)" -ge 1 ]
	[ "$(events a.hrr | jq -c 'select(.api=="hipModuleLaunchKernel")|[.kernel.name,(.kernel.args|map(.size))]' | tr '\n' ' ')" = \
		'["scale",[8,4,4]] ["mixed",[1,8,2,8,8]] ["scale",[8,4,4]] ' ]
}

@test "capture: graph outputs, by capture and by nodes, after each launch" {
	recorded graphcap
	[ "$(events a.hrr | jq -c 'select(.output)|.node' | sort -u | wc -l)" -eq 1 ]
	[ "$(events a.hrr | jq -c 'select(.output)|.output' | sort -u | wc -l)" -eq 2 ]
	[ "$(events a.hrr | jq -c 'select(.api=="hipGraphLaunch")|.host|length' | tr '\n' ' ')" = '1 1 ' ]
	rm -r a.hrr
	recorded graphnodes
	[ "$(events a.hrr | jq -c 'select(.output)|.output' | sort -u | wc -l)" -eq 2 ]
	n=$(events a.hrr | jq -c 'select(.output)|.node' | sort -u)
	events a.hrr | jq -r --argjson n "$n" 'select(.seq==$n).api' | grep -q ^hipGraphAddMemcpyNode
}

@test "capture: a child graph that the program asks for brings its own host memory" {
	recorded graphedit
	child=$(events a.hrr | jq -r 'select(.api=="hipGraphChildGraphNodeGetGraph").args.pGraph')
	exec=$(events a.hrr | jq -r --arg g "$child" 'select(.api=="hipGraphInstantiate" and .args.graph==$g).args.pGraphExec' | tail -n 1)
	seq=$(events a.hrr | jq -c --arg g "$child" 'select(.api=="hipGraphInstantiate" and .args.graph==$g).seq' | tail -n 1)
	launch=$(events a.hrr | jq -c --arg x "$exec" --argjson n "$seq" 'select(.api=="hipGraphLaunch" and .args.graphExec==$x and .seq>$n).seq' | head -n 1)
	[ "$(events a.hrr | jq -c --argjson n "$launch" 'select(.seq==$n).host|length')" = 1 ]
	[ "$(events a.hrr | jq -c --argjson n "$launch" 'select(.output==$n).size')" = 4096 ]
}

@test "capture: registered memory: what was there, what a kernel wrote" {
	recorded hostreg
	[ "$(events a.hrr | jq -c 'select(.api=="hipLaunchKernel" and .host)|.host[0].size' | sort -u)" = 48000 ]
	first=$(events a.hrr | jq -c 'select(.api=="hipLaunchKernel").seq' | head -1)
	[ "$(events a.hrr | jq -c --argjson n "$first" 'select(.output==$n)|.size')" = 48000 ]
}

@test "capture: two captures of one program differ in nothing that counts" {
	need_prog hrr-diff
	recorded streams
	mv a.hrr b.hrr
	recorded streams
	run_sep hrr-diff a.hrr b.hrr
	status_is 0
}

@test "capture: HIP bound by hipGetProcAddress" {
	need_emu
	unset LD_LIBRARY_PATH
	run_sep hrr-capture -q -d emu -o a.hrr -- "$STUB/proc" libamdhip64.so.6
	status_is 0
	[ "$(events a.hrr | jq -r 'select(.seq).api' | tr '\n' ' ')" = 'hipGetProcAddress hipGetDeviceCount ' ]
}

@test "capture: --hsa-regions records memory HIP never saw" {
	need_emu
	need_apps hsapool_copy
	unset LD_LIBRARY_PATH
	run_sep hrr-capture -q -d emu --hsa-regions -o a.hrr -- "$APPS/hsapool_copy"
	status_is 0
	[ "$(events a.hrr | jq -r 'select(.region).region' | tr '\n' ' ')" = 'add del ' ]
	base=$(events a.hrr | jq -r 'select(.region=="add").base')
	[ "$(events a.hrr | jq -r 'select(.dir=="h2d").args.dst')" = "$base" ]
}

@test "capture: --hsa-regions: the programs that go past HIP replay with no sidecar" {
	need_emu
	need_prog hrr-play
	need_apps hsapool_copy hsapool_kernel
	unset LD_LIBRARY_PATH
	local app
	for app in hsapool_copy hsapool_kernel; do
		rm -rf a.hrr
		run_sep hrr-capture -q -d emu --hsa-regions -o a.hrr -- "$APPS/$app"
		status_is 0
		run_sep hrr-play -d emu a.hrr
		status_is 0
		err_has "Verdict : matched"
		err_has "Region segs : 1 backed"
		# Without them nothing says what the address is.
		run_sep hrr-play -d emu --no-regions a.hrr
		status_is 1
		err_has "is not mapped"
	done
}
