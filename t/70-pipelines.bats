# Programs joined by pipes, with hrr-play at the end
# shellcheck disable=SC2086 # $DEV is an option and its argument
load helper

setup() {
	common_setup
	need_prog hrr-play hrr-capture hrr-cat hrr-regions
	need_emu
	need_apps saxpy
}

record() {
	on_device hrr-capture $DEV -o "$T/run.hrr" -- "$@" >"$T/app.out" 2>"$T/app.err"
}

@test "hrr-cat -e | hrr-play: a filtered stream says what is missing" {
	record saxpy
	hrr-cat -e '@copy' run.hrr >some
	run_sep hrr-play $DEV -k some
	status_is 1
	err_has "is not mapped"
	err_has "filtered"
}

@test "hrr-cat without what replay leaves out | hrr-play: no difference, and not matched" {
	record saxpy
	hrr-cat -x -e 'hipGetLastError' run.hrr | hrr-play $DEV - 2>err
	grep -q 'Verdict : no difference found: 1 output compared, all exact' err
	grep -q 'Stream : filtered' err
}

@test "sed | hrr-play: every line passes jq, edits are seen" {
	record saxpy
	hrr-cat run.hrr | jq -R -e 'fromjson|type=="object"' >/dev/null
	hrr-cat run.hrr | jq -c . | hrr-play $DEV -q -
	run_sep bash -c "hrr-cat run.hrr | sed 's/\"sizeBytes\":40000,\"kind\":\"hipMemcpyDeviceToHost\"/\"sizeBytes\":50000,\"kind\":\"hipMemcpyDeviceToHost\"/' | hrr-play $DEV -"
	status_is 1
	err_has "runs past the end of device memory"
	err_has "(50000 bytes)"
}

@test "a compressed stream is replayed" {
	need_cmd zstd
	record saxpy
	hrr-cat run.hrr | zstd -q | hrr-play $DEV -q -
}

@test "hrr-regions as a filter | hrr-play" {
	need_apps hsapool_copy
	record hsapool_copy
	read -r base size <<<"$(sed -n 's/^segment //p' app.out)"
	hrr-cat run.hrr | hrr-regions add --kind segment --base "$base" --size "$size" | hrr-play $DEV - 2>err
	grep -q 'Region segs : 1 backed' err
}

@test "a region that comes too late does not help" {
	need_apps hsapool_copy
	record hsapool_copy
	read -r base size <<<"$(sed -n 's/^segment //p' app.out)"
	hrr-cat run.hrr | sed '$i {"region":"add","kind":"segment","device":0,"base":"'"$base"'","size":'"$size"'}' >late
	run_sep hrr-play $DEV late
	status_is 1
	err_has "is not mapped"
}

@test "a live pipeline replays while the program runs" {
	need_apps threads
	run_sep bash -c "hrr-capture $DEV -o - -b '$T/b' -- threads 2>/dev/null | hrr-play $DEV -"
	status_is 0
	err_like 'Verdict : matched: [0-9]+ outputs compared'
}

@test "memory does not grow with the stream" {
	record saxpy
	many() {
		hrr-cat run.hrr | head -1
		hrr-cat run.hrr | grep hipMalloc
		awk -v n="$1" 'BEGIN { for (i = 100; i < n; i++) printf "{\"seq\":%d,\"t\":%d,\"dur\":1,\"tid\":1,\"api\":\"hipDeviceGetAttribute\",\"args\":{\"pi\":1,\"attr\":\"hipDeviceAttributeWarpSize\",\"deviceId\":0}}\n", i, i }'
	}
	rss() { /usr/bin/time -f %M hrr-play $DEV -q - 2>&1 >/dev/null | tail -1; }
	[ -x /usr/bin/time ] || lacking "no time"
	a=$(many 20000 | rss)
	b=$(many 400000 | rss)
	echo "$a KB, $b KB"
	[ "$b" -lt $((a + a / 10 + 400)) ]
}
