# hrr-play: memory that only annotations know, in whole programs
load helper

setup() {
	common_setup
	need_prog hrr-play hrr-capture
	need_emu
	need_cmd jq
	export HRR_EMU_DEVICES=2
}

# As the program would be recorded if it had its device memory from somewhere else: every
# allocation and release becomes an annotation, so that each is first touched by something else.
allocations_to_segments() {
	jq -cn '
	foreach inputs as $r ({dev: {}, live: {}};
		if $r.api == "hipSetDevice" then .dev[$r.tid | tostring] = $r.args.deviceId else . end
		| (.dev[$r.tid | tostring] // 0) as $d
		| ($r.args.ptr? // $r.args.dev_ptr?) as $p
		| .out = $r
		| if $r.ret != null then .
		elif $r.api == "hipMalloc" or $r.api == "hipMallocPitch" or $r.api == "hipMallocAsync" then
			.live[$p] = $d
			| .out = {region: "add", kind: "segment", device: $d, base: $p,
				size: ($r.args.size // $r.args.pitch * $r.args.height)}
		elif ($r.api == "hipFree" or $r.api == "hipFreeAsync") and .live[$p] != null then
			.out = {region: "del", kind: "segment", device: .live[$p], base: $p}
		else . end;
		.out)' "$1" >"$1.new" && mv "$1.new" "$1"
}

@test "hrr-play: programs whose every allocation is known from annotations only" {
	local a n=0 f outputs
	need_apps saxpy
	for a in saxpy streams hostreg graphcap graphnodes graphedit launches pitched symbols ptds threads polling pools waitvalue structarg peer modlaunch; do
		[ -x "$APPS/$a" ] || continue
		rm -rf run.hrr
		hrr-capture -q -d emu -o run.hrr -- "$a" >/dev/null
		f=$(echo run.hrr/pid-*/events.jsonl)
		outputs=$(grep -c '^{"output"' "$f")
		allocations_to_segments "$f"
		run_sep hrr-play -d emu run.hrr
		[ "$status" -eq 0 ] || {
			saw "$a: exit code 0 is due"
			return 1
		}
		err_has "Outputs : $outputs compared of $outputs: $outputs exact"
		[ "$a" = symbols ] || err_like "Region segs : [1-9][0-9]* backed" || return 1
		run_sep hrr-play -q -d emu --no-regions run.hrr
		[ "$a" = symbols ] || [ "$status" -eq 1 ] || {
			saw "$a: without annotations exit code 1 is due"
			return 1
		}
		n=$((n + 1))
	done
	[ "$n" -ge 14 ]
}

@test "hrr-play: addresses in structures that only a sidecar of later knows" {
	need_apps structarg
	hrr-capture -q -d emu -o run.hrr -- structarg >/dev/null
	local f
	f=$(echo run.hrr/pid-*/events.jsonl)
	# What the recorder could not mark: it did not know that memory either.
	jq -c 'if .kernel then .kernel.args |= map(if .size != 8 then del(.ptr) else . end) else . end' "$f" >new
	mv new "$f"
	allocations_to_segments "$f"
	echo '{"regions":1}' >adds
	jq -c 'select(.region == "add")' "$f" >>adds
	sed -i '/"region"/d' "$f"
	run_sep hrr-play -d emu --regions adds -r res run.hrr
	status_is 0
	err_has "Outputs : 3 compared of 3: 3 exact"
	err_has "Region words : 8 in kernel arguments, taken for addresses in segments"
	[ "$(jq .words res | tail -1)" = 8 ]
	# They are translated, too.
	run_sep hrr-play -d emu --no-placement --regions adds run.hrr
	status_is 0
	err_has "3 exact"
}

@test "hrr-play: a segment on a device that runs none of the kernels" {
	need_apps saxpy
	hrr-capture -q -d emu -o run.hrr -- saxpy >/dev/null
	local f
	f=$(echo run.hrr/pid-*/events.jsonl)
	allocations_to_segments "$f"
	sed -i '/"region"/s/"device":0/"device":1/' "$f"
	run_sep hrr-play -d emu run.hrr
	status_is 0
	err_has "Outputs : 1 compared of 1: 1 exact"
	err_has "Region segs : 2 backed"
}

@test "hrr-play: a segment is backed around memory that HIP made within it" {
	local placement
	printf '%s\n' '{"hrr":1,"pid":1}' \
		'{"region":"add","kind":"segment","device":0,"base":"0x610000000000","size":4194304}' \
		'{"seq":1,"t":1,"dur":1,"tid":1,"api":"hipMalloc","args":{"ptr":"0x610000100000","size":1048576}}' \
		'{"seq":2,"t":2,"dur":1,"tid":1,"api":"hipMemset","args":{"dst":"0x610000100000","value":5,"sizeBytes":1048576}}' \
		'{"seq":3,"t":3,"dur":1,"tid":1,"api":"hipMemset","args":{"dst":"0x610000200000","value":6,"sizeBytes":4096}}' \
		'{"seq":4,"t":4,"dur":1,"tid":1,"api":"hipFree","args":{"ptr":"0x610000100000"}}' \
		'{"end":"exit","t":9,"calls":4,"outputs":0,"regions":1,"lost":0,"notRecorded":{}}' >run
	for placement in "" --no-placement; do
		# The last byte before it, its first and last, the first behind it.
		for at in 0x6100000fffff:00 0x610000100000:05 0x6100001fffff:05 0x610000200000:06; do
			run_sep hrr-play -q -d emu $placement --fill-byte 0 --stop-at 3 --dump "${at%:*}:1" run
			status_is 0
			[ "$(xxd -p <.out)" = "${at#*:}" ] || {
				saw "$placement ${at%:*} holds $(xxd -p <.out)"
				return 1
			}
		done
	done
	run_sep hrr-play -d emu run
	status_is 0
	err_has "Region segs : 1 backed"
}

@test "hrr-play: the same, where work is done late" {
	local a f
	need_apps saxpy
	for a in graphedit threads pools; do
		rm -rf run.hrr
		hrr-capture -q -d emu -o run.hrr -- "$a" >/dev/null
		f=$(echo run.hrr/pid-*/events.jsonl)
		allocations_to_segments "$f"
		run_sep env HRR_EMU_SCHED=late hrr-play -d emu run.hrr
		[ "$status" -eq 0 ] || {
			saw "$a: exit code 0 is due"
			return 1
		}
	done
}
