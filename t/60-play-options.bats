# hrr-play: options, odd ones too, messages, and ends that come early
# shellcheck disable=SC2086 # $DEV is an option and its argument
load helper
load play

misuse() {
	status_is 2
	err_has "$1"
	err_has "-h shows how it is used"
	no_out
}

@test "hrr-play: bad arguments name their option" {
	record saxpy
	play --seq 5 run.hrr
	misuse "--seq: not A:B"
	play --seq 7:5 run.hrr
	misuse "--seq: no calls: 7:5"
	play --seq : run.hrr
	misuse "--seq"
	play --stop-at 0 run.hrr
	misuse "--stop-at"
	play --dump 0x10 run.hrr
	misuse "--dump"
	play --dump 0x10:0 run.hrr
	misuse "--dump: not a size"
	play --type f31 run.hrr
	misuse "--type: unknown: f31"
	play --type f32 --ulp x run.hrr
	misuse "--ulp: "
	play --replace-kernel =x run.hrr
	misuse "--replace-kernel: not NAME=FILE"
	play --hash-launches - run.hrr
	misuse "--hash-launches: needs a file"
	play -r - --dump 0x10:4 run.hrr
	misuse "standard output"
	run_sep hrr-play -d '' run.hrr
	misuse "-d: no device"
}

@test "hrr-play: input that is none gets one line" {
	printf 'no json\n' >x
	play x
	status_is 2
	[ "$(wc -l <.err)" -eq 1 ] || saw "one line is due"
	err_has "x:1: not JSON"
	run_sep hrr-play $DEV </dev/null
	status_is 2
	[ "$(wc -l <.err)" -eq 1 ]
}

@test "hrr-play --seq A: and :B are open" {
	record structarg
	mapfile -t o < <(jq -r 'select(.output)|.output' "$(events)")
	play -r res --seq "${o[1]}:" run.hrr
	status_is 0
	[ "$(jq -r 'select(.outcome=="exact")|.seq' res | tr '\n' ' ')" = "${o[1]} ${o[2]} " ]
	play -r res --seq ":${o[0]}" run.hrr
	status_is 0
	[ "$(jq -r 'select(.outcome)|.seq' res)" = "${o[0]}" ]
}

@test "hrr-play: a place that the stream does not have is trouble" {
	record saxpy
	play --stop-at 999 run.hrr
	status_is 2
	err_has "--stop-at: there is no call 999"
	play --only-kernel 'none*' run.hrr
	status_is 2
	err_has "--only-kernel: no kernel none* was launched"
	play --dump 0x10:4 run.hrr
	status_is 2
	err_has "--dump: address 0x10 (4 bytes) is not mapped"
	no_out
	play --replace-kernel none=x run.hrr
	status_is 0
	err_has "warning: --replace-kernel: not launched: none"
	play --inject hipMemcpy:999 run.hrr
	status_is 0
	err_has "warning: --inject"
}

@test "hrr-play --replace-kernel: a file that is none is trouble" {
	record saxpy
	name=$(jq -r 'select(.kernel)|.kernel.name' "$(events)" | head -1)
	echo text >k
	play --replace-kernel "$name=k" run.hrr
	status_is 2
	err_has "k is no code object"
	play --replace-kernel "$name=none" run.hrr
	status_is 2
	err_has "none: cannot be read"
}

@test "hrr-play -r -: results go to standard output" {
	record saxpy
	play -q -r - run.hrr
	status_is 0
	[ "$(jq -r 'select(.outcome).outcome' .out)" = exact ]
	[ "$(jq -r 'select(.verdict).verdict' .out)" = matched ]
}

@test "hrr-play: messages of several processes name each one's file and line" {
	need_emu
	need_apps saxpy structarg
	hrr-capture -q $DEV -o run.hrr -- sh -c 'saxpy & structarg & wait' >/dev/null
	sed -i 's/\("hex":"\)10270000"/\100270000"/' run.hrr/pid-*/events.jsonl
	f=$(grep -l '"hex":"00270000"' run.hrr/pid-*/events.jsonl)
	line=$(grep -n '^{"output"' "$f" | cut -d: -f1)
	play run.hrr
	status_is 1
	err_has "hrr-play: $f:$line: output "
	pid=${f#*pid-}
	pid=${pid%%/*}
	# a sidecar's lines are no lines of the file
	hrr-regions add -a run.hrr --pid "$pid" --kind segment --base 0x600000000000 --size 4096
	play run.hrr
	status_is 1
	err_has "hrr-play: $f:$line: output "
}

@test "hrr-play --sync-after-launch names the guilty launch" {
	need_emu
	record saxpy
	# more elements than there are: the kernel leaves its memory
	sed -i 's/\("hex":"\)10270000"/\1ffffff00"/; s/"grid":\[[0-9]*,/"grid":[90000,/' "$(events)"
	export HRR_EMU_SCHED=late
	play run.hrr
	status_is 1
	err_like "hipMemcpy: .*hipErrorIllegalAddress"
	play --sync-after-launch run.hrr
	status_is 1
	err_like "hipLaunchKernel: kernel _Z5saxpy[A-Za-z]* \\(call [0-9]+\\) ended with hipErrorIllegalAddress"
	err_lacks "hipMemcpy: "
}

@test "hrr-play --watchdog ends a wait that does not end, and frees nothing" {
	need_emu
	record streams
	run_sep env HRR_EMU_SCHED=late hrr-play $DEV --watchdog 1 --inject hipStreamQuery:1-:hipErrorNotReady run.hrr
	status_is 2
	err_has "watchdog: the device is still busy after 1 seconds"
	err_has "what it may still write was left alone"
	err_has "Verdict : not replayed"
}

# A device that stays busy; SIGTERM as soon as it is heard. Leaves $code and .err.
terminated() {
	HRR_EMU_SCHED=late hrr-play $DEV --watchdog 0 --inject hipStreamQuery:1-:hipErrorNotReady run.hrr 2>.err &
	local p=$! caught=0
	while [ $((0x$caught & 0x4000)) -eq 0 ]; do
		sleep 0.1
		caught=$(sed -n 's/^SigCgt:[[:space:]]*//p' /proc/$p/status)
	done
	kill -TERM $p
	code=0
	wait $p || code=$?
	err=$(cat .err)
}

@test "hrr-play: SIGTERM while work is queued, also at the end, without a watchdog" {
	need_emu
	record streams
	terminated
	[ "$code" -eq 2 ]
	err_has "interrupted"
	err_has "the device could not be waited for"
	err_has "Verdict : not replayed"
	# nothing in it waits: the end does, and not for ever
	rm -rf run.hrr
	record saxpy
	terminated
	[ "$code" -eq 2 ]
	err_has "the device could not be waited for"
}

@test "hrr-play never opens a file that an archive names" {
	need_emu
	record modlaunch
	mkfifo trap
	# reading it would hang
	jq -c --arg f "$T/trap" 'if .api? == "hipModuleLoadData" or .api? == "hipModuleLoad"
		then .api = "hipModuleLoad" | .args.fname = $f | del(.args.image, .blobs) else . end' "$(events)" >x
	cp x "$(events)"
	run_sep timeout 60 hrr-play $DEV run.hrr
	status_is 1
	err_like "hipModuleLoad: .*not recorded"
}

@test "hrr-play: memory is placed on a pipe too; what is elsewhere is counted and named" {
	need_emu
	record saxpy
	hrr-cat run.hrr >stream
	run_sep hrr-play $DEV - <stream
	err_has "Placement : 2 at the recorded address, 0 elsewhere"
	first=$(jq -r 'select(.api=="hipMalloc").args.ptr' "$(events)" | head -1)
	play --inject hipMemAddressReserve:1-:hipErrorOutOfMemory run.hrr
	status_is 0
	err_has "Placement : 0 at the recorded address, 2 elsewhere (first: $first)"
	err_has "Verdict : matched"
}

@test "hrr-play: progress on a terminal, none elsewhere" {
	need_cmd script
	record saxpy
	hrr-cat run.hrr >stream
	on=$(jq -c 'select(.api=="hipGetLastError" or .api=="hipGetDevice")' stream | head -1)
	[ -n "$on" ] || lacking "no call to repeat"
	# enough records for the first report
	{
		head -2 stream
		awk -v line="$on" 'BEGIN { for (i = 0; i < 20000; i++) print line }'
	} | awk 'NR > 2 { sub(/"seq":[0-9]+/, "\"seq\":" NR) } { print }' >long
	need_terminal
	script -qec "hrr-play $DEV long" typescript >/dev/null || :
	grep -q 'records' typescript || {
		cat typescript
		return 1
	}
	play long
	err_lacks "records"
}

@test "hrr-play: registrations take no more than the machine has" {
	need_emu
	local size
	for size in 70368744177664 70368744177664000; do
		printf '%s\n' '{"hrr":1,"pid":1}' \
			'{"seq":1,"t":1,"dur":1,"tid":1,"api":"hipHostRegister","args":{"hostPtr":"0x7f0000000000","sizeBytes":'$size',"flags":0}}' \
			'{"end":"exit","t":2,"calls":1,"outputs":0,"regions":0,"lost":0,"notRecorded":{}}' >big
		# Not the machine, should it be wrong: no file may grow beyond 1 GiB.
		run_sep bash -c 'ulimit -f 1048576 && hrr-play -d emu big'
		status_is 1
		err_has "big:2: hipHostRegister: host memory: $size more bytes at 0x7f0000000000, 0 in use: the machine has "
	done
}
