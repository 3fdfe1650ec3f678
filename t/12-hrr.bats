#!/usr/bin/env bats
# Upstream's archives, read and written by every program.
load helper

DATA=$BATS_TEST_DIRNAME/data/hrr
SHARED=$BATS_TEST_DIRNAME/../../shared/data/hrr
[ -d "$SHARED" ] || SHARED=$BATS_TEST_DIRNAME/../../../shared/data/hrr

need_samples() {
	[ -d "$SHARED" ] || skip "no ../shared/data/hrr beside the repository"
}

# Lines of an archive but for the header, which names its place.
body() {
	hrr-cat -q "$1" 2>/dev/null | grep -v '^{"hrr"'
}

@test "hrr-cat prints an upstream archive as a stream" {
	run_sep hrr-cat "$DATA/saxpy"
	status_is 0
	no_err
	out_has '"api":"hipMemcpy","args":{"dst":"0x7f3c40000000","src":"0x55c8d1f06010","sizeBytes":1024,"kind":"hipMemcpyHostToDevice"},"dir":"h2d","blobs":{"src":"xxh128:3c28c32cfb2f035b68459c98f414a137"}}'
	out_has '{"output":9,"t":355818,"tid":4711,"addr":"0x55c8d1f06420","size":1024,"blob":"xxh128:9a973b4fa7b31fc1633964fd11a4747e"}'
	out_has '"kernel":{"name":"saxpy","object":"xxh128:08c67c7dfb98fb537fa82e4af54eac4e","grid":[4,1,1],"block":[64,1,1],"lds":0,"args":[{"offset":0,"size":4,"hex":"00000040"},{"offset":8,"size":8,"hex":"000000403c7f0000","ptr":[0]}'
	out_has '{"end":"complete"'
}

@test "hrr-cat takes one process's folder and an events.bin" {
	hrr-cat "$DATA/saxpy" >a
	hrr-cat "$DATA/saxpy/pid-4711" >b
	hrr-cat "$DATA/saxpy/pid-4711/events.bin" >c
	cmp a b
	cmp a c
}

@test "hrr-cat merges the processes of a root, and chooses one with --pid" {
	run_sep hrr-cat "$DATA/pids"
	status_is 0
	out_has '"p":1,"t":0,"tid":4017,"api":"hipModuleLoadData"'
	run_sep hrr-cat --pid 4017 -c "$DATA/pids"
	status_is 0
	out_is 10
	run_sep hrr-cat --pid 5 "$DATA/pids"
	status_is 2
	err_has 'no process 5 in it: it has 4000 4017'
}

@test "hrr-cat merges upstream's sidecars, or leaves them out" {
	run_sep hrr-cat "$DATA/regions"
	status_is 0
	out_has '{"region":"add","kind":"segment","device":0,"base":"0x7fbe01400000","size":2097152}'
	out_has '{"region":"del","kind":"block","device":0,"base":"0x7fbe01402000","t":166098,"tag":"#2"}'
	run_sep hrr-cat --no-sidecars "$DATA/regions"
	status_is 0
	[[ $out != *'"region"'* ]]
}

@test "hrr-cat of an upstream archive: a region whose size or time cannot be is left out, and said" {
	cp -r "$DATA/regions" size
	cp -r "$DATA/regions" time
	chmod -R u+w size time
	# The first record: its size is at byte 64, its time at byte 72.
	printf '\x20' | dd of=size/pid-1234/regions/hrr.hrrr bs=1 seek=70 conv=notrunc status=none
	printf '\x10' | dd of=time/pid-1234/regions/hrr.hrrr bs=1 seek=79 conv=notrunc status=none
	local all
	all=$(hrr-cat "$DATA/regions" 2>/dev/null | grep -c '^{"region"')
	for f in size time; do
		run_sep hrr-cat $f
		status_is 0
		err_has "regions: one at 0x7fbe01400000 is left out: its $f is not plausible"
		[ "$(grep -c '^{"region"' "$T/.out")" -eq $((all - 1)) ]
	done
}

@test "hrr-cat takes over the blobs of an upstream archive" {
	hrr-cat -q -o own "$DATA/saxpy"
	cmp "own/blobs/9a/9a973b4fa7b31fc1633964fd11a4747e" \
		"$DATA/saxpy/pid-4711/blobs/a8/a8474e4dd30be9389cef5e991a899938.blob"
	[ "$(find own/blobs -type f | wc -l)" = 4 ]
}

@test "hrr-cat finds the blobs of an upstream archive through a pipe" {
	hrr-cat "$DATA/saxpy" | hrr-cat -q -o own -
	[ "$(find own/blobs -type f | wc -l)" = 4 ]
}

@test "hrr-cat says what is wrong with an events.bin, each in its words" {
	mkdir pid-1
	head -c 100 "$DATA/saxpy/pid-4711/events.bin" >pid-1/events.bin
	run_sep hrr-cat pid-1
	status_is 0
	err_has 'truncated event header (28/32 bytes) at the end; recovered 1 events before it'
	err_has 'no clean-shutdown trailer'
	err_has 'cut short'
	head -c 120 "$DATA/saxpy/pid-4711/events.bin" >pid-1/events.bin
	run_sep hrr-cat pid-1
	err_has 'truncated event payload (expected 108 bytes, 48 are there)'
	printf 'EHRR\7\0\0\0' >pid-1/events.bin
	run_sep hrr-cat pid-1
	status_is 0
	err_has 'recovered 0 events'
	printf 'EHRR\11\0\0\0' >pid-1/events.bin
	run_sep hrr-cat pid-1
	status_is 2
	err_has 'archive version 9 is not known: this program reads versions 3 to 8'
	printf 'EHRX\7\0\0\0' >pid-1/events.bin
	run_sep hrr-cat pid-1
	status_is 2
	err_has 'bad magic 0x58524845 (expected 0x52524845)'
	printf 'EHR' >pid-1/events.bin
	run_sep hrr-cat pid-1
	status_is 2
	err_has 'too short: 3 bytes, the file header has 8'
}

@test "hrr-cat names missing and damaged blobs of an upstream archive" {
	cp -r "$DATA/saxpy" a
	chmod -R u+w a
	rm a/pid-4711/blobs/f9/*.blob
	echo x >>a/pid-4711/blobs/1d/1df1c4da6d674b25026b6bbd299729b3.blob
	run_sep hrr-cat a
	status_is 0
	err_has 'blob f977be1bf8be6a0886a16042f5317988.blob is missing (first named at call 5)'
	err_has 'blob 1df1c4da6d674b25026b6bbd299729b3.blob is damaged: its bytes are not what its name says (first named at call 6)'
	run_sep hrr-cat -o own a
	status_is 2
	err_has 'blob f977be1bf8be6a0886a16042f5317988.blob is missing'
	[ ! -e own ]
}

@test "hrr-cat: views of an archive that has no command line name its process" {
	run_sep hrr-cat --info "$DATA/saxpy"
	out_has '
  command   not recorded
'
	pid=$(hrr-cat "$DATA/saxpy" | jq 'select(.hrr) | .pid')
	hrr-cat --timeline "$DATA/saxpy" | jq -c '.traceEvents[] | select(.name == "process_name") | .args.name' >got
	printf '"process %s"\n"process %s streams"\n' "$pid" "$pid" | cmp - got
}

@test "hrr-cat --format hrr8 writes what it read" {
	for a in saxpy pinned pids regions; do
		run_sep hrr-cat -o "$a" --format hrr8 "$DATA/$a"
		status_is 0
		no_err
		diff <(body "$DATA/$a") <(body "$a")
	done
	cmp saxpy/pid-4711/events.bin "$DATA/saxpy/pid-4711/events.bin"
}

@test "hrr-cat --format hrr8 says what that format cannot hold" {
	cat >s.jsonl <<-'X'
		{"hrr":1,"pid":7,"image":0,"command":["a"],"t0":"1000","realtime":"5","boot":"","env":{},"blobs":"blobs"}
		{"seq":1,"t":10,"dur":5,"tid":7,"api":"hipMalloc","args":{"ptr":"0x7f0000000000","size":16}}
		{"seq":2,"t":20,"dur":5,"tid":7,"api":"hipMalloc","ret":"hipErrorOutOfMemory","args":{"size":999999999}}
		{"seq":3,"t":30,"dur":5,"tid":7,"api":"hipModuleGetFunction","args":{"function":"0x10","module":"0x20","kname":"k"}}
		{"end":"complete","t":40,"calls":3,"outputs":0,"regions":0,"lost":0,"notRecorded":{"hipTexRefSetArray":2}}
	X
	run_sep hrr-cat -o a --format hrr8 s.jsonl
	status_is 0
	err_has 'not held: hipMalloc: a call that failed or never returned'
	err_has 'not held: hipModuleGetFunction: the text of kname'
	err_has 'not held: how long a call took (3 times)'
	err_has 'not held: command line and environment of a process'
	run_sep hrr-cat a
	status_is 0
	out_has '{"seq":1,"t":0,"tid":7,"api":"hipMalloc","args":{"ptr":"0x7f0000000000","size":16}}'
	out_has '{"seq":2,"t":20,"tid":7,"api":"hipModuleGetFunction","args":{"function":"0x10","module":"0x20"}'
	out_has '"calls":2,"outputs":0,"regions":0,"lost":0,"notRecorded":{"hipTexRefSetArray":1}}'
}

@test "hrr-cat --format: misuse, and a folder that is there" {
	run_sep hrr-cat --format hrr8 "$DATA/saxpy"
	status_is 2
	err_has '--format needs -o'
	run_sep hrr-cat -o a --format hrr9 "$DATA/saxpy"
	status_is 2
	err_has 'neither jsonl nor hrr8: hrr9'
	mkdir there
	run_sep hrr-cat -o there --format hrr8 "$DATA/saxpy"
	status_is 2
	err_has 'there: cannot make: File exists'
	[ -z "$(ls -A there)" ]
	[ -z "$(find . -name '*.tmp-*')" ]
}

@test "every sample reads, writes and reads the same" {
	need_samples
	for a in "$SHARED"/*/; do
		name=$(basename "$a")
		hrr-cat -q -o "$name" --format hrr8 "$a" 2>/dev/null
		diff <(body "$a") <(body "$name") || { echo "$name"; return 1; }
	done
}

@test "a capture of each program goes there and back" {
	local n=0
	need_emu
	need_cmd jq
	for app in "$APPS"/*; do
		[ -x "$app" ] && [ -f "$app" ] || continue
		name=$(basename "$app")
		case $name in
		*.hsaco | killme | polling) continue ;;
		esac
		on_device timeout 60 hrr-capture -d "$DEVICE" -o "$name" -- "$app" >/dev/null 2>&1 || continue
		hrr-cat -q -o "$name.8" --format hrr8 "$name" 2>"$name.lost"
		# Whole events, but for what was said to be lost.
		hrr-cat -q "$name" >want 2>/dev/null || :
		hrr-cat -q "$name.8" >got 2>/dev/null || :
		jq -nr --slurpfile a want --slurpfile b got --rawfile lost "$name.lost" \
			-f "$ROOT/t/12-hrr.jq" >differs
		[ ! -s differs ] || { echo "$name"; sort differs | uniq -c; return 1; }
		n=$((n + $(grep -c '"seq":' got)))
	done
	[ "$n" -gt 500 ] # so much was compared
}

@test "hrr-diff takes an upstream archive against another" {
	run_sep hrr-diff "$DATA/saxpy" "$DATA/saxpy"
	status_is 0
	need_samples
	run_sep hrr-diff "$SHARED/saxpy-v5" "$SHARED/saxpy-v8"
	status_is 0
}

@test "hrr-play replays upstream archives, every output exact" {
	need_emu
	for a in saxpy pinned pids regions; do
		run_sep hrr-play -d emu "$DATA/$a"
		status_is 0 || saw "$a"
		err_like 'matched: [1-9][0-9]* outputs? compared, all exact'
	done
	need_samples
	for a in "$SHARED"/*/; do
		run_sep hrr-play -d emu "$a"
		case $a in
		*damage-missing-blob-v7/) # a copy in has no bytes
			status_is 2
			err_has 'hipMemcpy: source: blob f977be1bf8be6a0886a16042f5317988.blob is missing' ;;
		*damage-torn-payload-v5/) # ends before the copy out
			status_is 0
			err_has 'no outputs to compare' ;;
		*)
			status_is 0 || saw "$a"
			err_like '[1-9][0-9]* outputs? compared, all exact' ;;
		esac
	done
}

@test "hrr-play waits where upstream's recorder waited: behind an asynchronous copy" {
	need_emu
	hrr-cat "$DATA/pinned" |
		sed -e 's/"hipMemcpy",\(.*\)"kind":"hipMemcpyDeviceToHost"/"hipMemcpyAsync",\1"kind":"hipMemcpyDeviceToHost","stream":"0x0"/' \
			-e 's/0x55c8d1f06010/0x7f3c3c000000/' \
			-e 's/\("seq":11,.*\)hipDeviceSynchronize/\1hipGetLastError/' >async.jsonl
	grep -q '"api":"hipMemcpyAsync"' async.jsonl
	HRR_EMU_SCHED=late run_sep hrr-play -d emu async.jsonl
	status_is 0
	err_has 'matched: 1 output compared, all exact'
}

@test "hrr: -b takes the folder of an upstream process for its blobs" {
	hrr-cat "$DATA/saxpy" 2>/dev/null | jq -c 'if .hrr then .blobs = "/nowhere" | del(.foreign) else . end' >lines
	folder=$(dirname "$(find "$DATA/saxpy/" -name events.bin)")
	run_sep hrr-cat -b "$folder" -o out.hrr lines
	status_is 0
	run_sep hrr-cat --verify out.hrr
	status_is 0
	out_like '^[1-9][0-9]* blobs, .* 0 missing'
}
