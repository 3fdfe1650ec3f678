# hrr-play: recorded programs, replayed on the device
# shellcheck disable=SC2086 # $DEV is an option and its argument
load helper
load play

# segment_of: base and size that an hsapool program printed
segment_of() { sed -n 's/^segment //p' "$T/app.out"; }

@test "hrr-play replays saxpy: every output exact" {
	record saxpy
	play run.hrr
	matched 1
	no_out
	err_has "1 compared of 1: 1 exact, 0 within tolerance, 0 differ, 0 unchecked"
}

@test "hrr-play: every call is replayed, without effect, left out, refused or failed, and counted once" {
	record saxpy
	play -r r run.hrr
	status_is 0
	err_like 'Calls : [0-9]+: [0-9]+ replayed, [1-9][0-9]* without effect, 0 left out, 0 refused, 0 failed'
	# A question that was too early, and a call that never returned, are left out, and said to be.
	sed -e '/"api":"hipLaunchKernel"/{p;s/"seq":[0-9]*/"seq":900/;s/hipLaunchKernel"/hipStreamQuery","ret":"hipErrorNotReady"/;s/"args":{.*/"args":{"stream":"0x0"}}/}' \
		-e '/"api":"__hipUnreg/{s/"api":[^,]*/&,"ret":"none"/}' "$(events)" >cut.jsonl
	run_sep hrr-play $DEV -b run.hrr/blobs -r r cut.jsonl
	err_like 'Calls : [^\n]*, 2 left out, 0 refused, 0 failed'
	jq -e -s '.[-1] | .calls==.replayed+.noEffect+.leftOut and .leftOut==2' r
}

@test "hrr-play: device memory comes out at its recorded addresses" {
	need_emu
	record saxpy
	play run.hrr
	err_has "Placement : 2 at the recorded address, 0 elsewhere"
}

@test "hrr-play --no-placement translates instead" {
	record structarg
	play --no-placement run.hrr
	matched 3
	err_lacks "Placement : 3 at"
}

@test "hrr-play replays the programs of t/apps" {
	local a n=0
	for a in streams ring hostreg graphcap graphnodes graphedit graphsym modgraph launches vmm mapped zerocopy hostback managed pitched symbols ptds threads polling pools devreset waitvalue structarg; do
		[ -e "$APPS/$a" ] || continue
		n=$((n + 1))
		rm -rf run.hrr
		record "$a"
		play run.hrr
		[ "$status" -eq 0 ] || {
			saw "$a: exit code 0 is due"
			return 1
		}
		err_like 'Verdict : matched: [0-9]+ outputs? compared, all exact' || return 1
	done
	[ $n -ge 10 ]
}

@test "hrr-play: two devices and a peer copy" {
	need_emu
	export HRR_EMU_DEVICES=2
	record peer
	play run.hrr
	matched 1
}

@test "hrr-play: launches on two devices with one call" {
	need_emu
	export HRR_EMU_DEVICES=2
	record multidev
	play run.hrr
	matched 6
	err_has 'Launches : 6'
	# Work put off to the last moment, and launches waited for one by one.
	HRR_EMU_SCHED=late play --sync-after-launch run.hrr
	matched 6
	play --hash-launches one run.hrr
	[ "$(grep -c '"kernels"' one)" = 3 ]
	# Whatever the archive says of them.
	hrr-cat -q -o less.hrr run.hrr
	sed -i 's/"numDevices":2,"flags":0/"numDevices":3,"flags":0/' less.hrr/pid-*/events.jsonl
	play less.hrr
	status_is 1
	err_has 'hipExtLaunchMultiKernelMultiDevice: its list of 3 launches was not recorded'
	hrr-cat -q -o none.hrr run.hrr
	sed -i 's/"kernels":\[.*\]}$/"kernels":[{},{}]}/' none.hrr/pid-*/events.jsonl
	play none.hrr
	status_is 1
	err_has 'hipExtLaunchMultiKernelMultiDevice: "kernel": name is missing'
	hrr-cat -q -o one.hrr run.hrr
	sed -i 's/"kernels":\[\({.*]}\),{"name.*$/"kernels":[\1]}/' one.hrr/pid-*/events.jsonl
	play one.hrr
	status_is 1
	err_has 'launch 1 of a list of 2: its kernel was not recorded'
}

@test "hrr-play: contexts of two threads on two devices" {
	need_emu
	export HRR_EMU_DEVICES=2
	record ctxs
	play run.hrr
	matched 9
}

@test "hrr-play: memory the program mapped itself, at other addresses too" {
	record vmm
	play --no-placement run.hrr
	matched 5
}

@test "hrr-play: work done late, at random, on threads, and without overlapping registrations" {
	need_emu
	local a
	for a in streams ring hostreg graphcap graphnodes graphedit graphsym modgraph launches mapped zerocopy hostback managed threads; do
		rm -rf run.hrr
		record $a
		for v in HRR_EMU_SCHED=late HRR_EMU_SCHED=random:1 HRR_EMU_SCHED=random:2 HRR_EMU_SCHED=async HRR_EMU_REREGISTER=refuse; do
			run_sep env $v hrr-play $DEV run.hrr
			[ "$status" -eq 0 ] || {
				saw "$a $v: exit code 0 is due"
				return 1
			}
		done
	done
}

@test "hrr-play: a managed variable, which kernels are not given, and work done late" {
	need_emu
	local v
	need_apps managedvar
	hrr-capture -q -d emu -o run.hrr -- "$APPS/managedvar" twice
	for v in eager late random:1 random:2 async; do
		HRR_EMU_SCHED=$v play run.hrr
		[ "$status" -eq 0 ] || {
			saw "$v: exit code 0 is due"
			return 1
		}
	done
}

@test "hrr-cat | hrr-play - is the same" {
	record saxpy
	hrr-cat run.hrr >stream
	run_sep hrr-play $DEV - <stream
	matched 1
	run_sep hrr-play $DEV <stream
	matched 1
}

@test "hrr-capture -o - | hrr-cat | hrr-play -" {
	need_emu
	need_apps saxpy
	hrr-capture $DEV -o - -b "$T/b" -- saxpy 2>cap.err | hrr-cat | hrr-play $DEV - 2>play.err
	[ "${PIPESTATUS[*]}" = "0 0 0" ]
	grep -q 'Verdict : matched: 1 output compared' play.err
}

@test "hrr-play: an edited kernel argument is exit 1 with offset, both values and the launch" {
	record saxpy
	sed -i 's/\("hex":"\)10270000"/\100270000"/' "$(events)"
	play run.hrr
	status_is 1
	err_like 'differs at offset [0-9]+: recorded 0x[0-9a-f]+ .*, replayed 0x[0-9a-f]+ '
	err_like 'last launch that could have written there: call [0-9]+, kernel _Z5saxpy'
	err_has "Verdict : differs"
}

@test "hrr-play: damaged and missing blobs are exit 2 and named" {
	record saxpy
	id=$(jq -r 'select(.blobs.src)|.blobs.src' "$(events)" | head -1)
	hex=${id#xxh128:}
	f=run.hrr/blobs/${hex:0:2}/$hex
	chmod u+w "$f"
	printf x | dd of="$f" bs=1 seek=100 conv=notrunc 2>/dev/null
	play run.hrr
	status_is 2
	err_has "$id"
	err_has "hipMemcpy: source"
	rm -f "$f"
	play run.hrr
	status_is 2
	err_has "$id is missing"
}

@test "hrr-play: a damaged output blob is exit 2, not a difference" {
	record saxpy
	id=$(jq -r 'select(.output)|.blob' "$(events)")
	hex=${id#xxh128:}
	f=run.hrr/blobs/${hex:0:2}/$hex
	chmod u+w "$f"
	printf x | dd of="$f" bs=1 seek=100 conv=notrunc 2>/dev/null
	play run.hrr
	status_is 2
	err_has "$id"
}

@test "hrr-play: a stream cut at any byte never crashes and is said" {
	record saxpy
	size=$(stat -c %s "$(events)")
	cp -r run.hrr whole
	local n=0
	for at in 0 1 $(seq 97 $((size / 60)) $((size - 2))) $((size - 1)); do
		head -c "$at" whole/pid-*/events.jsonl >"$(events)"
		play run.hrr
		case $status in
		0 | 1 | 2) ;;
		*)
			saw "cut at $at: a crash"
			return 1
			;;
		esac
		[[ $err == *"cut short"* || $err == *"no header"* || $err == *empty* || $err == *"not one whole line"* ]] || {
			saw "cut at $at: not said"
			return 1
		}
		n=$((n + 1))
	done
	[ $n -gt 50 ]
}

@test "hrr-play --require-complete: a cut stream is exit 1, otherwise 0" {
	record saxpy
	sed -i '$d' "$(events)"
	play run.hrr
	status_is 0
	err_has "Verdict : no difference found"
	play --require-complete run.hrr
	status_is 1
	err_has "Verdict : not complete"
}

@test "hrr-play: a bad line in the middle is exit 2 with its number" {
	record saxpy
	sed -i '5s/.*/{"seq":4,"api":/' "$(events)"
	play run.hrr
	status_is 2
	err_has ":5: "
}

@test "hrr-play: memory HIP never saw is not mapped without a sidecar, and backed with one" {
	need_prog hrr-regions
	for app in hsapool_copy hsapool_kernel; do
		rm -rf run.hrr
		record $app
		read -r base size <<<"$(segment_of)"
		play run.hrr
		status_is 1
		err_like "hip[A-Za-z]+: .*$base.* is not mapped: no allocation, no live segment"
		hrr-regions add -a run.hrr --kind segment --base "$base" --size "$size"
		play run.hrr
		status_is 0
		err_has "Region segs : 1 backed"
		err_has "Regions : 1 records from 1 streams"
		play --no-regions run.hrr
		status_is 1
	done
}

@test "hrr-play: the message names call, address, size and blob" {
	record hsapool_copy
	read -r base size <<<"$(segment_of)"
	play run.hrr
	err_like "^hrr-play: run.hrr.*:[0-9]+: hipMemcpy: destination $base \\($size bytes, blob $size\\) is not mapped: no allocation, no live segment"
}

@test "hrr-play --regions takes a sidecar from elsewhere" {
	record hsapool_copy
	read -r base size <<<"$(segment_of)"
	printf '{"regions":1,"clock":"monotonic","resolution":1}\n{"region":"add","kind":"segment","device":0,"base":"%s","size":%d}\n' "$base" "$size" >side.jsonl
	play --regions side.jsonl run.hrr
	status_is 0
	err_has "Region segs : 1 backed"
}

@test "hrr-play -r writes one JSON line per outcome and a verdict" {
	record graphcap
	play -r res.jsonl run.hrr
	status_is 0
	jq -e . res.jsonl >/dev/null
	[ "$(jq -r 'select(.outcome=="exact")|.node' res.jsonl | wc -l)" -eq 2 ]
	[ "$(tail -1 res.jsonl | jq -r .verdict)" = matched ]
	[ "$(tail -1 res.jsonl | jq -r .exit)" = 0 ]
}

@test "hrr-play: a call recorded but not played is refused by name; -k goes on" {
	record saxpy
	sed -i 's/"api":"hipGetLastError","args":{}/"api":"hipLaunchHostFunc","args":{"stream":"0x0","fn":"0x1234","userData":"0x0"}/' "$(events)"
	play run.hrr
	status_is 1
	err_like 'hipLaunchHostFunc: cannot be replayed: host functions'
	err_has "0 compared of 0"
	play -k run.hrr
	status_is 1
	err_has "1 refused"
	err_has "1 exact"
}

@test "hrr-play: an unknown call is refused by name" {
	record saxpy
	sed -i 's/"api":"hipGetLastError"/"api":"hipSomethingNew"/' "$(events)"
	play -k run.hrr
	status_is 1
	err_has "hipSomethingNew is no call this version knows"
}

@test "hrr-play: a handle nobody made is an error that says what may be missing" {
	record streams
	grep -v hipStreamCreate "$(events)" >x
	cp x "$(events)"
	play run.hrr
	status_is 1
	err_like 'stream 0x[0-9a-f]+ was not made in this stream of calls: .* missing'
}

@test "hrr-play: no output compared is exit 1 when there were outputs" {
	record saxpy
	sed -i 's/^\({"output":.*\)"blob":"[^"]*"}/\1"unknown":"not seen"}/' "$(events)"
	play run.hrr
	status_is 1
	err_has "not checked: not seen"
	err_has "Verdict : nothing compared"
}

@test "hrr-play: calls that were not recorded block the word matched" {
	record saxpy
	sed -i 's/"notRecorded":{}/"notRecorded":{"hipTexObjectCreate":2}/' "$(events)"
	play run.hrr
	status_is 0
	err_has "Verdict : no difference found"
	err_has "Not recorded : 2 calls"
}

@test "hrr-play --type, --atol, --ulp: within tolerance is its own outcome" {
	record saxpy
	sed -i 's/\("hex":"\)0000[0-9a-f]*40"/&/' "$(events)"
	id=$(jq -r 'select(.output)|.blob' "$(events)")
	hex=${id#xxh128:}
	cp "run.hrr/blobs/${hex:0:2}/$hex" out.bin
	chmod u+w out.bin
	# the last bit of the first element's mantissa
	printf %02x $((0x$(xxd -p -l 1 out.bin) ^ 1)) | xxd -r -p | dd of=out.bin bs=1 conv=notrunc 2>/dev/null
	new=$(xxhsum -H2 out.bin | cut -d' ' -f1)
	mkdir -p "run.hrr/blobs/${new:0:2}"
	cp out.bin "run.hrr/blobs/${new:0:2}/$new"
	sed -i "s/$hex/$new/" "$(events)"
	play run.hrr
	status_is 1
	err_has "1 of 40000 bytes in 1 range;"
	play --type f32 --ulp 1 run.hrr
	status_is 0
	err_has "0 exact, 1 within tolerance"
	play --type f32 --atol 1e-30 run.hrr
	status_is 1
	play --rules <(echo 'kernel=_Z5saxpy* type=f32 ulp=1') run.hrr
	status_is 0
	play --rules <(echo 'kernel=other type=f32 ulp=1') run.hrr
	status_is 1
	play --atol 1 run.hrr
	status_is 2
	err_has "need --type"
}

@test "hrr-play --replace-kernel takes another code object" {
	need_cmd hipcc
	record saxpy
	cat >k.hip <<-'END'
		#include <hip/hip_runtime.h>
		__global__ void saxpy(int n, float a, const float *x, float *y)
		{
			int i = blockIdx.x * blockDim.x + threadIdx.x;
			if (i < n)
				y[i] = -1;
		}
	END
	name=$(jq -r 'select(.kernel)|.kernel.name' "$(events)" | head -1)
	hipcc --genco --offload-arch="${HRR_T_ARCH:-gfx90a}" -O3 k.hip -o k.hsaco 2>/dev/null || lacking "hipcc does not build"
	play --replace-kernel "$name=k.hsaco" run.hrr
	status_is 1
	err_has "(f32 -1)"
	play --replace-kernel "other=k.hsaco" run.hrr
	status_is 0
}

@test "hrr-play --stop-at --dump writes bytes as they stand" {
	record saxpy
	at=$(jq -r 'select(.api=="hipLaunchKernel")|.seq' "$(events)")
	out=$(jq -r 'select(.output)|.blob' "$(events)")
	dst=$(jq -r 'select(.api=="hipMemcpy" and .dir=="d2h")|.args.src' "$(events)")
	hrr-play $DEV -q --stop-at "$at" --dump "$dst:40000" run.hrr >dump
	[ "xxh128:$(xxhsum -H2 dump | cut -d' ' -f1)" = "$out" ]
	hrr-play $DEV -q --stop-at $((at - 1)) --dump "$dst:40000" run.hrr >dump
	[ "xxh128:$(xxhsum -H2 dump | cut -d' ' -f1)" != "$out" ]
}

@test "hrr-play --only-kernel ends after its first launch" {
	record graphnodes
	record() { :; }
	rm -rf run.hrr
	on_device hrr-capture $DEV -o run.hrr -- structarg >/dev/null 2>&1
	name=$(jq -r 'select(.kernel)|.kernel.name' "$(events)" | head -1)
	play --only-kernel "$name" run.hrr
	status_is 0
	err_has "Launches : 1"
	err_lacks "Verdict : matched"
}

@test "hrr-play --seq checks only outputs of these calls and ends after them" {
	record structarg
	mapfile -t o < <(jq -r 'select(.output)|.output' "$(events)")
	play -r res --seq "${o[1]}:${o[1]}" run.hrr
	status_is 0
	[ "$(jq -r 'select(.outcome=="exact")|.seq' res)" = "${o[1]}" ]
	[ "$(jq -r 'select(.outcome=="unchecked")|.seq' res)" = "${o[0]}" ]
}

@test "hrr-play --hash-launches: hrr-diff names the first kernel that differs" {
	need_prog hrr-diff
	record structarg
	play --hash-launches one run.hrr
	play --hash-launches two --no-placement run.hrr
	run_sep hrr-diff one two
	status_is 0
	name=$(jq -r 'select(.kernel)|.kernel.name' "$(events)" | sed -n 2p)
	seq=$(jq -r 'select(.kernel)|.seq' "$(events)" | sed -n 2p)
	sed -i "/^{\"seq\":$seq,/s/\(\"hex\":\"\)\(....\)\(....\)\"}/\10000\3\"}/" "$(events)"
	hrr-play $DEV -k -q --hash-launches two run.hrr || :
	run_sep hrr-diff -1 one two
	status_is 1
	out_has "$name"
	# The same launches, other bytes written: the output says whose they are.
	sed "/^{\"output\":$seq,/s/xxh128:..../xxh128:0000/" one >two
	rm -r one.blobs
	run_sep hrr-diff -1 one two
	status_is 1
	out_has ", output of hipLaunchKernel $name"
	run_sep hrr-diff -j -1 one two
	status_is 1
	jq -e -s --arg name "$name" '.[0] | .diff=="output" and .api=="hipLaunchKernel" and .kernel==$name' .out
}

@test "hrr-play --timing prints kernel times" {
	record saxpy
	play --timing run.hrr
	status_is 0
	err_like 'time: _Z5saxpy[A-Za-z]*: 1 launch,'
}

@test "hrr-play --fill-byte: fresh memory holds it" {
	record saxpy
	dev=$(jq -r 'select(.api=="hipMalloc")|.args.ptr' "$(events)" | head -1)
	at=$(jq -r 'select(.api=="hipMalloc")|.seq' "$(events)" | head -1)
	hrr-play $DEV -q --fill-byte 165 --stop-at "$at" --dump "$dev:4" run.hrr >dump
	[ "$(xxd -p dump)" = a5a5a5a5 ]
	hrr-play $DEV -q --stop-at "$at" --dump "$dev:4" run.hrr >dump
	[ "$(xxd -p dump)" = 00000000 ]
}

@test "hrr-play --fill-byte: memory the program maps itself holds it, wherever it is mapped" {
	record vmm
	read -r seq at < <(jq -r 'select(.api=="hipMemSetAccess")|"\(.seq) \(.args.ptr)"' "$(events)" | head -1)
	for place in "" --no-placement; do
		hrr-play $DEV -q $place --fill-byte 165 --stop-at "$seq" --dump "$at:65536" run.hrr >dump
		[ "$(tr -d '\245' <dump | wc -c) $(wc -c <dump)" = "0 65536" ]
	done
	hrr-play $DEV -q --stop-at "$seq" --dump "$at:4" run.hrr >dump
	[ "$(xxd -p dump)" = 00000000 ]
}

@test "hrr-play --max-host-bytes refuses with the numbers" {
	record hostreg
	play --max-host-bytes 4K run.hrr
	status_is 1
	err_has "over --max-host-bytes 4096"
}

@test "hrr-play --inject makes a call fail" {
	record saxpy
	play --inject hipMemcpy:3:hipErrorIllegalAddress run.hrr
	status_is 1
	err_has "hipMemcpy: succeeded when recorded, replay says hipErrorIllegalAddress"
	play --inject hipNothing run.hrr
	status_is 2
}

@test "hrr-play: two processes in one stream are replayed each in its own" {
	record saxpy
	mv run.hrr one.hrr
	record structarg
	hrr-cat one.hrr | jq -c 'with_entries(.)|to_entries|(.[0:1]+[{key:"p",value:0}]+.[1:])|from_entries' >a
	hrr-cat run.hrr | jq -c 'with_entries(.)|to_entries|(.[0:1]+[{key:"p",value:1}]+.[1:])|from_entries' >b
	# one blob folder for both
	cp -r one.hrr/blobs all
	cp -r -n run.hrr/blobs/* all/
	paste -d '\n' a b | sed '/^$/d' >both
	run_sep hrr-play $DEV -b all -r res both
	status_is 0
	err_has "Process : 1 (pid"
	[ "$(grep -c 'Verdict : matched' .err)" -eq 2 ]
	[ "$(jq -r 'select(.outcome=="exact")|.p' res | sort | uniq -c | tr -s ' ' | tr '\n' ';')" = " 1 0; 3 1;" ]
	sed -i 's/\("p":1.*"hex":"\)\([0-9a-f]\)/\1f/' both
	run_sep hrr-play $DEV -b all both
	status_is 1
	pid=$(jq -r 'select(.p==0 and .hrr)|.pid' both)
	run_sep hrr-play $DEV -b all --pid "$pid" both
	status_is 0
}

@test "hrr-play: SIGTERM ends in order" {
	need_emu
	record saxpy
	mkfifo f
	hrr-play $DEV - <f 2>e &
	p=$!
	exec 7>f
	hrr-cat run.hrr | head -8 >&7
	sleep 1
	kill $p
	sleep 0.3
	hrr-cat run.hrr | tail -n +9 >&7 || :
	exec 7>&-
	code=0
	wait $p || code=$?
	[ "$code" -eq 2 ]
	grep -q interrupted e
	grep -q 'Verdict : not replayed' e
}

@test "hrr-play: no device is one clear line and exit 2" {
	need_cmd ldconfig
	ldconfig -p | grep -q libamdhip64 || skip "no libamdhip64 here"
	[ ! -e /dev/kfd ] || skip "there may be a GPU"
	printf '{"hrr":1,"pid":1,"image":0,"command":["x"],"t0":"1","realtime":"2","boot":"","env":{},"blobs":"b"}\n' >s
	run_sep hrr-play -d rocm s
	status_is 2
	[ "$(wc -l <.err)" -eq 1 ] || saw "one line is due"
	err_like 'hrr-play: no device: .*libamdhip64'
	no_out
}

@test "hrr-play -d auto says which device it took" {
	need_emu
	[ ! -e /dev/kfd ] || skip "there may be a GPU"
	record saxpy
	run_sep hrr-play run.hrr
	status_is 0
	err_has "device emu: no GPU answers, the CPU run time is used"
}

@test "hrr-play: a launch that ended the recorded program is there, is issued and named" {
	need_emu
	need_apps bad_assert
	local line sched
	line=$(grep -n HERE "$ROOT/t/apps/bad_assert.hip" | tail -1 | cut -d: -f1)
	for sched in eager late; do # inside the launch; inside the wait
		run_sep env HRR_EMU_SCHED=$sched hrr-capture -q -d emu -o $sched.hrr -- "$APPS/bad_assert"
		status_is 134
		err_has "s_trap"
		err_has "bad_assert.hip:$line"
		err_has "workgroup (1,0,0)"
		play $sched.hrr
		status_is 1
		err_has "bad_assert.hip:$line"
		err_like 'waiting for .*: hipErrorLaunchFailure'
		err_has "Verdict : failed"
	done
	[ "$(hrr-cat -e ret=none eager.hrr 2>/dev/null | jq -r 'select(.seq)|.api,.kernel.name,(.kernel.args|length)' |
		tr '\n' ' ')" = 'hipLaunchKernel _Z8positivePKiPii 3 ' ]
	[ "$(hrr-cat -e ret=none late.hrr 2>/dev/null | jq -r 'select(.seq)|.api')" = hipDeviceSynchronize ]
	hrr-cat --slice ret=none -o one.hrr eager.hrr
	play one.hrr
	status_is 1
	err_has "bad_assert.hip:$line"
}

@test "hrr-play: pinned memory given back by hipFree, as run times allow" {
	record mapped
	[ "$(hrr-cat -c -e hipHostFree run.hrr)" -gt 0 ]
	hrr-cat run.hrr | sed 's/"api":"hipHostFree"/"api":"hipFree"/' >s
	play s
	status_is 0
	err_has "Verdict : matched"
}

@test "hrr-play: usage and misuse" {
	run_sep hrr-play -h
	status_is 0
	no_err
	[ "$(awk 'length > 80' .out | wc -l)" -eq 0 ]
	run_sep hrr-play --nonsense
	status_is 2
	run_sep hrr-play a b
	status_is 2
	run_sep hrr-play $DEV nothing.hrr
	status_is 2
	err_has nothing.hrr
	run_sep hrr-play -d /nothing.so </dev/null
	status_is 2
	run_sep hrr-play $DEV </dev/null
	status_is 2
	err_has empty
}

@test "hrr-play: header only, and a full results file" {
	printf '{"hrr":1,"pid":1,"image":0,"command":["x"],"t0":"1","realtime":"2","boot":"","env":{},"blobs":"b"}\n' >s
	run_sep hrr-play $DEV s
	status_is 0
	err_has "no outputs to compare"
	[ -e /dev/full ] || skip "no /dev/full"
	record saxpy
	play -r /dev/full run.hrr
	status_is 2
}

@test "hrr-play: what kernels print is on standard error, masked, and an assert ends nothing" {
	need_emu
	need_cmd hipcc
	cat >say.hip <<-'END'
		#include <hip/hip_runtime.h>
		#include <cassert>
		#include <cstdio>
		__global__ void say(int *x)
		{
			printf("red \033[31m %d\n", (int)threadIdx.x);
			assert(x[1] == 7);
			x[0] = 1;
		}
		int main(int argc, char **argv)
		{
			int x[2] = {0, argc > 1 ? 8 : 7}, *d;
			if (hipMalloc((void **)&d, 8) != hipSuccess ||
			    hipMemcpy(d, x, 8, hipMemcpyHostToDevice) != hipSuccess)
				return 2;
			say<<<1, 1>>>(d);
			return hipMemcpy(x, d, 8, hipMemcpyDeviceToHost) != hipSuccess || x[0] != 1;
		}
	END
	hipcc --offload-arch=gfx90a -O1 say.hip -o say 2>log || { cat log; false; }
	hrr-capture -d emu -o say.hrr -- ./say >out
	grep -q "^red $(printf '\033')\[31m 0\$" out
	run_sep hrr-play -d emu -r - say.hrr
	status_is 0
	err_has 'red \x1b[31m 0'
	[ "$(grep -c '^{' .out)" -eq "$(wc -l <.out)" ] || { cat .out; false; }
	HRR_EMU_TRAP=error hrr-capture -d emu -o bad.hrr -- ./say 8 >out 2>&1 || [ -e bad.hrr ]
	run_sep hrr-play -d emu bad.hrr
	[ "$status" -lt 128 ] || saw "an assert of the archive ended hrr-play"
	err_has "Device-side assertion"
}
