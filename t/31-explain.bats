# hrr-regions: explain, merge, clip, lint, map.
# shellcheck disable=SC2086 # $S has no blanks
load helper

setup() {
	common_setup
	need_prog hrr-regions hrr-cat
	cp -r "$ROOT/t/data/streams/small" small
	S=small/pid-4242
}

@test "regions explain: who holds an address, and from when" {
	run_sep hrr-regions explain 0x7f0000000004 --at 7 $S
	status_is 0
	no_err
	out_is '0x7f0000000004 at call 7 hipMemcpy (t 7000)
block 0x7f0000000000 + 8, tag "first half", since t 5600
  offset 4, 4 bytes from there to its end
allocation 0x7f0000000000 + 16, by call 2 hipMalloc at t 2000
  offset 4, 12 bytes from there to its end'
	run_sep hrr-regions explain 0x7f0000000004 --t 5000 $S
	status_is 0
	out_lacks "block 0x7f0000000000 + 8, tag \"first half\", since t 5600
  offset"
	run_sep hrr-regions explain 0x7f000000000c --at 7 $S
	status_is 1
	out_has '  4 bytes past the end of block 0x7f0000000000 + 8, tag "first half", since t 5600'
	run_sep hrr-regions explain 0x7f000000000c $S
	status_is 1
	out_has '  allocation 0x7f0000000000 + 16, by call 2 hipMalloc at t 2000, until call 9 hipFree at t 9000'
}

@test "regions explain: takes what hrr-play prints, one line or many" {
	m='hrr-play: run.hrr:11: hipMemcpy: source 0x7f0000000000 (16 bytes, blob 16) is not mapped: no allocation'
	run_sep hrr-regions explain "$m" $S
	status_is 1
	out_has '0x7f0000000000 + 16 at call 7 hipMemcpy (t 7000)'
	out_has '8 bytes from there to its end: 16 bytes run 8 past it'
	printf 'no address here\n%s\nhrr-play: run.hrr:3: x: 0x7f0000000000 is\n' "$m" >said
	run_sep bash -c "hrr-regions explain - $S <said"
	status_is 1
	[ "$(grep -c '^0x' "$T/.out")" = 2 ]
	run_sep bash -c "hrr-cat $S | hrr-regions explain 0x7f0000000004 --at 7"
	status_is 0
	out_has 'tag "first half"'
}

@test "regions explain: a place in host memory is told by the copy that wrote it" {
	{
		echo '{"hrr":1,"pid":1,"t0":"1","blobs":"/none"}'
		echo '{"seq":1,"t":1,"tid":1,"api":"hipMalloc","args":{"ptr":"0x7f0000001000","size":256}}'
		echo '{"seq":2,"t":2,"tid":1,"api":"hipMemcpy","args":{"dst":"0x5000","src":"0x7f0000001000","sizeBytes":64},"dir":"d2h"}'
		echo '{"seq":3,"t":3,"tid":1,"api":"hipMemcpy","args":{"dst":"0x5000","src":"0x7f0000001040","sizeBytes":64},"dir":"d2h"}'
		echo '{"output":3,"t":4,"addr":"0x5000","size":64,"unknown":""}'
		echo '{"seq":4,"t":5,"tid":1,"api":"hipMemcpy","args":{"dst":"0x5000","src":"0x9000","sizeBytes":64},"dir":"d2h"}'
	} >s
	run_sep hrr-regions explain 'hrr-play: s:5: output 0x5000 (64 bytes) of call 3 differs at offset 0' s
	status_is 1
	out_has 'copied there last:
  call 3 hipMemcpy, from 0x7f0000001040: offset 64 of allocation 0x7f0000001000 + 256, by call 1 hipMalloc at t 1'
	run_sep hrr-regions explain '{"outcome":"differs","seq":2,"addr":"0x5000","size":64}' s
	out_has 'call 2 hipMemcpy, from 0x7f0000001000: offset 0 of '
	run_sep hrr-regions explain 0x503f s
	out_has 'call 4 hipMemcpy, from 0x903f: nothing that lives holds that'
	run_sep hrr-regions explain 0x5040 s
	out_lacks 'copied there'
}

@test "regions explain: the place in the code that hrr-play tells below a fault is no question" {
	printf '%s\n' 'hrr-emu: _Z5scalePfi: store of 4 bytes (global) at 0x7f0000000000' \
		'  pc 0x7d0400002570 (kernel + 0x70): global_store_dword v[0:1], v2, off' >said
	run_sep bash -c "hrr-regions explain - $S <said"
	[ "$(grep -c '^0x' "$T/.out")" = 1 ]
}

@test "regions explain: what hrr-play tells below a fault is about the moment of the fault" {
	printf '%s\n' "hrr-play: small:11: call 7 (hipMemcpy): store of 4 bytes (global) at 0x7f0000000000" \
		'  pc 0x7d0400002570 (kernel + 0x70): global_store_dword v[0:1], v2, off' \
		'  at byte 0 of recorded memory 0x7f0000000000 +16' \
		'hrr-play: small:12: it has no address' '  near 0x7f0000000008' 'one 0x7f0000000000 of its own' \
		'  and 0x7f0000000004' >said
	run_sep bash -c "hrr-regions explain - $S <said"
	[ "$(grep '^0x' "$T/.out" | cut -d ' ' -f 1-4 | tr '\n' ';')" = '0x7f0000000000 at call 7;0x7f0000000000 at call 7;0x7f0000000008 at the output;0x7f0000000000 at the end;0x7f0000000004 at the end;' ] || saw moments
}

@test "regions explain: what cannot be asked" {
	run_sep hrr-regions explain 0x5 --at 77 $S
	status_is 2
	err_is "hrr-regions: $S: no call 77 in it"
	run_sep hrr-regions explain hello $S
	status_is 2
	err_has 'no address like 0x7fbe01400000 in it'
	run_sep hrr-regions explain
	status_is 2
	run_sep bash -c 'hrr-regions explain - </dev/null'
	status_is 2
	run_sep bash -c "hrr-regions explain - $S </dev/null"
	status_is 2
	err_is 'hrr-regions: -: no address in any line of it'
	run_sep bash -c 'hrr-regions explain 0x5 </dev/null'
	status_is 2
}

# two: the stream of two processes, each with a block of its own where the other has none.
two_processes() {
	jq -c 'if .hrr then .p = 0 else .p = 0 end' $S/events.jsonl | grep -v '"end"' >two
	jq -c 'select(.hrr or .seq) | if .hrr then .pid = 77 | .p = 1 else .p = 1 | del(.blobs) end' $S/events.jsonl |
		sed -e 's/0x7f0000/0x7e0000/g' >>two
	echo '{"region":"add","p":1,"kind":"block","device":0,"base":"0x7e0000000000","size":4,"tag":"theirs"}' >>two
}

@test "regions: of several processes each is seen to" {
	need_cmd jq
	two_processes
	run_sep hrr-regions ls two
	status_is 0
	out_has '4242 block 0 0x7f0000000000 8 5600 - first half'
	out_has '77 block 0 0x7e0000000000 4 - - theirs'
	run_sep hrr-regions ls --pid 77 two
	out_is 'block 0 0x7e0000000000 4 - - theirs'
	run_sep hrr-regions explain 0x7e0000000001 two
	status_is 0
	out_is 'process 77: 0x7e0000000001 at the end of the stream
block 0x7e0000000000 + 4, tag "theirs", since before the stream
  offset 1, 3 bytes from there to its end
freed there last:
  allocation 0x7e0000000000 + 16, by call 2 hipMalloc at t 2000, until call 9 hipFree at t 9000
    it was at offset 1 there'
	# Nobody's: every process says so.
	run_sep hrr-regions explain 0x5 two
	status_is 1
	out_has 'process 4242: 0x5 at the end of the stream'
	out_has 'process 77: 0x5 at the end of the stream'
	run_sep hrr-regions explain 0x5 --at 777 two
	status_is 2
	err_has 'hrr-regions: two: no call 777 in it'
	# A message names the file.
	cp -r small many
	mkdir many/pid-4250/regions
	printf '%s\n' '{"regions":1,"clock":"monotonic","resolution":1}' \
		'{"region":"add","kind":"segment","device":0,"base":"0x7f0000000000","size":64}' >many/pid-4250/regions/x.jsonl
	run_sep hrr-regions explain "hrr-play: many/pid-4250/events.jsonl:2: hipX: 0x7f0000000004 is" many
	status_is 0
	out_has 'process 4250: 0x7f0000000004'
	out_lacks 'process 4242'
	run_sep hrr-regions map --svg two
	status_is 0
	[ "$(grep -c '<svg' <"$T/.out")" = 3 ]
	out_has 'two: process 4242</text>'
	out_has 'two: process 77</text>'
	run_sep hrr-regions map --svg --pid 77 two
	[ "$(grep -c '<svg' <"$T/.out")" = 1 ]
}

@test "regions lint: of several processes each against its own memory" {
	need_cmd jq
	two_processes
	# Launches: a pointer to the other's memory is one to none of its own.
	echo '{"seq":20,"p":1,"t":1,"dur":1,"tid":1,"api":"hipModuleLaunchKernel","args":{},"kernel":{"name":"k","args":[{"offset":0,"size":8,"hex":"000000000c7f0000","ptr":[0]}]}}' >>two
	echo '{"seq":21,"p":1,"t":1,"dur":1,"tid":1,"api":"hipModuleLaunchKernel","args":{},"kernel":{"name":"k","args":[{"offset":0,"size":8,"hex":"000000000 07e0000","ptr":[0]}]}}' | tr -d ' ' >>two
	run_sep hrr-regions lint two
	status_is 1
	out_like '90% unknown: call 20 hipModuleLaunchKernel of k'
	out_lacks 'call 21'
}

@test "regions: an option that a command does not take is misuse" {
	local c
	for c in 'ls --torch x' 'check --svg' 'ls -f x' 'del --size 5 --base 0x1 --t 1' 'map --svg --at 5' 'merge --from 5 x' \
		'import --hrrr x --frames 3' 'import --torch x -f y' 'add --kind block --base 0x1 --size 1 -f y' 'clip --from 5 --to 4 x' \
		'explain 0x5 --t 1 --at 2 x' 'map --svg --from 5 --to 4' 'ls --pid 99999999999999' 'ls -a x y' 'explain' 'merge'; do
		echo "$c"
		run_sep hrr-regions $c
		status_is 2
		no_out
		err_has '-h shows how it is used'
	done
}

@test "regions merge and clip: several sidecars as one, and a part" {
	printf '%s\n' '{"regions":1,"clock":"monotonic","resolution":1,"t0":"1000"}' \
		'{"region":"add","kind":"block","base":"0x10","size":16,"t":50}' \
		'{"region":"del","base":"0x10","t":90}' >a.jsonl
	printf '%s\n' '{"regions":1,"clock":"monotonic","resolution":1000,"t0":"980"}' \
		'{"region":"add","kind":"block","base":"0x90","size":16,"t":60}' >b.jsonl
	run_sep hrr-regions merge a.jsonl b.jsonl
	status_is 0
	no_err
	out_is '{"regions":1,"clock":"monotonic","resolution":1,"t0":"980"}
{"region":"add","kind":"block","base":"0x90","size":16,"t":60}
{"region":"add","kind":"block","base":"0x10","size":16,"t":70}
{"region":"del","base":"0x10","t":110}'
	cp "$T/.out" m.jsonl
	run_sep hrr-regions clip --from 111 m.jsonl
	status_is 0
	out_is '{"regions":1,"clock":"monotonic","resolution":1,"t0":"980"}
{"region":"add","kind":"block","base":"0x90","size":16,"t":60}'
	run_sep hrr-regions clip --to 100 --base 0x10 --size 1 m.jsonl
	out_is '{"regions":1,"clock":"monotonic","resolution":1,"t0":"980"}
{"region":"add","kind":"block","base":"0x10","size":16,"t":70}'
	printf '{"regions":1,"clock":"realtime","t0":"5"}\n' >c.jsonl
	run_sep hrr-regions merge a.jsonl c.jsonl
	status_is 2
	err_is 'hrr-regions: c.jsonl: its clock cannot be compared with that of a.jsonl: the archive is needed'
	run_sep hrr-regions merge -a $S a.jsonl c.jsonl
	status_is 0
	out_has '"t0":"81234000000000"'
	run_sep hrr-regions merge
	status_is 2
	run_sep hrr-regions clip --base 0x1 a.jsonl
	status_is 2
	printf '{"region"' >>a.jsonl
	run_sep hrr-regions merge a.jsonl
	status_is 0
	err_is "hrr-regions: a sidecar's last line is cut: left out"
}

@test "regions lint: pointers and payload words that nobody declared" {
	run_sep hrr-regions lint $S
	status_is 0
	no_out
	# The launch's pointer forgotten, and one to nowhere.
	sed 's/"hex":"00000000007f0000","ptr":\[0\]/"hex":"00000000007f0000"/' $S/events.jsonl >e && mv e $S/events.jsonl
	run_sep hrr-regions lint $S
	status_is 1
	out_is "$S/events.jsonl:7: 90% hidden: call 5 hipLaunchKernel of _Z5upperPc: argument 0 byte 0: 0x7f0000000000 is no declared pointer, but an address in allocation 0x7f0000000000 + 16"
	sed -i 's/"hex":"00000000007f0000"/"hex":"000000aaaa7e0000","ptr":[0]/' $S/events.jsonl
	run_sep hrr-regions lint $S
	status_is 1
	out_has '90% unknown: call 5 hipLaunchKernel of _Z5upperPc: argument 0 byte 0: 0x7eaaaa000000 points to memory that nobody declared'
	run_sep hrr-regions lint --confidence 91 $S
	status_is 0
	no_out
}

@test "regions lint: a payload that holds an address" {
	need_cmd xxhsum
	printf 'aaaaaaaa\010\000\000\000\000\177\000\000' >bytes
	id=$(xxhsum -H2 bytes | cut -d ' ' -f 1)
	mkdir -p "small/blobs/${id:0:2}"
	cp bytes "small/blobs/${id:0:2}/$id"
	sed -i "s/xxh128:1f58fc809b1b8c4b3e8e153ff12f6330/xxh128:$id/" $S/events.jsonl
	run_sep hrr-regions lint $S
	status_is 1
	out_is "$S/events.jsonl:5: 50% payload: call 3 hipMemcpy: payload byte 8: 0x7f0000000008 is an address in allocation 0x7f0000000000 + 16"
	rm -r "small/blobs/${id:0:2}"
	run_sep hrr-regions lint $S
	status_is 0
	err_is "hrr-regions: $S: warning: 1 payloads could not be read"
}

@test "regions map: many allocations far from each other are all drawn" {
	awk 'BEGIN {
	print "{\"hrr\":1,\"pid\":1,\"command\":[],\"t0\":\"1\",\"blobs\":\"/nowhere\"}"
	for (i = 1; i <= 200; i++)
		printf "{\"seq\":%d,\"t\":%d,\"dur\":1,\"tid\":1,\"api\":\"hipMalloc\",\"args\":{\"ptr\":\"0x7f%08x00\",\"size\":%d}}\n", i, i * 10, i * 65536 + (i > 100) * 2^30, 4096
	print "{\"end\":\"complete\",\"t\":9999,\"calls\":200,\"outputs\":0,\"regions\":0,\"lost\":0,\"notRecorded\":{},\"realtime\":\"3\"}" }' >many
	run_sep hrr-regions map --svg many
	status_is 0
	[ "$(grep -o '<title>hipMalloc\|<title>[^<]*0x7f' .out | wc -l)" = 200 ]
	[ "$(grep -c '100 with gaps' .out)" = 2 ] # two places, not one and not all of it
	[ "$(grep -c 'left out' .out)" = 0 ]
	[ "$(grep -c segment .out)" = 0 ] # what is not there needs no key
}

@test "regions map: a picture of memory over time" {
	run_sep hrr-regions map --svg $S
	status_is 0
	no_err
	out_has '<title>block 0x7f0000000000 + 8 (8 B)'
	out_has 'first half'
	out_has 'call 7 hipMemcpy: source 0x7f0000000000: runs past the end by 8 bytes'
	if command -v xmllint >/dev/null; then xmllint --noout "$T/.out"; fi
	if command -v rsvg-convert >/dev/null; then rsvg-convert "$T/.out" -o x.png; fi
	run_sep hrr-regions map $S
	status_is 2
	head -n 1 $S/events.jsonl >h
	run_sep hrr-regions map --svg h
	status_is 2
	err_has 'no device memory in it: nothing to draw'
	run_sep bash -c "hrr-regions map --svg $S >/dev/full"
	status_is 2
}
