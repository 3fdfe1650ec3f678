# hrr-diff
load helper

setup() {
	common_setup
	need_prog hrr-diff
	need_cmd xxhsum
	B=$T/blobs
}

# Bytes from printf's format into the blob folder; prints the id.
blob() {
	local tmp id
	tmp=$(mktemp "$T/blob.XXXXXX")
	# shellcheck disable=SC2059
	printf "$1" >"$tmp"
	id=$(xxhsum -H2 "$tmp" | cut -d' ' -f1)
	mkdir -p "$B/${id:0:2}"
	mv "$tmp" "$B/${id:0:2}/$id"
	printf 'xxh128:%s' "$id"
}

header() {
	printf '{"hrr":1,"pid":%d,"image":0,"command":["./x"],"t0":"1","realtime":"2","boot":"","env":{},"blobs":"%s"}\n' "$1" "$B"
}

# call SEQ TID API ARGS [MORE]: one line; t and dur follow no rule, as in life.
call() {
	printf '{"seq":%d,"t":%d,"dur":%d,"tid":%d,"api":"%s","args":{%s}%s}\n' "$1" $((RANDOM + $1 * 100000)) $RANDOM "$2" "$3" "$4" "${5:-}"
}

# run TID BASE [SED-SCRIPT]: a small run: two buffers, a copy, a stream, a launch, an output.
run_of() {
	local tid=$1 x y host stub in out
	x=$(printf '%x' $(($2)))
	y=$(printf '%x' $(($2 + 0x10000)))
	host=$(printf '%x' $(($2 * 3 + 0x5500)))
	stub=$(printf '%x' $(($2 + 0x7700)))
	in=$(blob 'abcdefgh')
	out=$(blob 'ABCDEFGHIJKLMNOP')
	header "$tid"
	{
		call 1 "$tid" hipMalloc "\"ptr\":\"0x$x\",\"size\":4096"
		call 2 "$tid" hipMalloc "\"ptr\":\"0x$y\",\"size\":4096"
		call 3 "$tid" hipStreamCreate "\"stream\":\"0x9$stub\""
		call 4 "$tid" hipMemcpy "\"dst\":\"0x$x\",\"src\":\"0x$host\",\"sizeBytes\":8,\"kind\":\"hipMemcpyHostToDevice\"" ",\"dir\":\"h2d\",\"blobs\":{\"src\":\"$in\"}"
		call 5 "$tid" hipLaunchKernel "\"function_address\":\"0x$stub\",\"numBlocks\":[1,1,1],\"dimBlocks\":[64,1,1],\"sharedMemBytes\":0,\"stream\":\"0x9$stub\"" \
			",\"kernel\":{\"name\":\"saxpy\",\"grid\":[1,1,1],\"block\":[64,1,1],\"lds\":0,\"args\":[{\"offset\":0,\"size\":4,\"hex\":\"00000040\"},{\"offset\":8,\"size\":8,\"hex\":\"$(le "$x")\",\"ptr\":[0]}]}"
		call 6 "$tid" hipMemcpy "\"dst\":\"0x$host\",\"src\":\"0x$x\",\"sizeBytes\":16,\"kind\":\"hipMemcpyDeviceToHost\"" ',"dir":"d2h"'
		printf '{"output":6,"t":9,"tid":%d,"addr":"0x%s","size":16,"blob":"%s"}\n' "$tid" "$host" "$out"
		call 7 "$tid" hipFree "\"ptr\":\"0x$x\""
		call 8 "$tid" hipFree "\"ptr\":\"0x$y\""
		printf '{"end":"complete","t":99,"calls":8,"outputs":1,"regions":0,"lost":0,"notRecorded":{},"realtime":"3"}\n'
	} | sed "${3:-}"
}

# A number's 8 bytes, low one first.
le() {
	local v i
	v=$(printf '%016x' "0x$1")
	for i in 14 12 10 8 6 4 2 0; do printf '%s' "${v:i:2}"; done
}

@test "hrr-diff: the same run at other addresses, threads and times is equal" {
	run_of 100 0x7f0000000000 >a
	run_of 222 0x7e4400000000 >b
	run_sep hrr-diff a b
	status_is 0
	no_out
	err_is 'hrr-diff: equal: 8 calls, 1 outputs'
	run_sep hrr-diff -q a b
	status_is 0
	no_out
	no_err
}

@test "hrr-diff: one operand may be standard input" {
	run_of 100 0x7f0000000000 >a
	run_of 222 0x7e4400000000 >b
	run_sep bash -c 'hrr-diff - b <a'
	status_is 0
	run_sep hrr-diff - -
	status_is 2
	err_has 'only one operand can be standard input'
}

@test "hrr-diff: a changed size is the first differing call and nothing else is" {
	run_of 100 0x7f0000000000 >a
	run_of 222 0x7e4400000000 's/\(hipMalloc.*"size":\)4096/\18192/;' | sed '3s/8192/4096/' >b
	run_sep hrr-diff a b
	status_is 1
	out_is "--- a
+++ b
@@ -1 +1 @@ thread 1
-hipMalloc ptr=memory1 size=4096
+hipMalloc ptr=memory1 size=8192
  args.size: 4096 | 8192"
	err_has 'different: 7 calls equal, 1 changed'
}

@test "hrr-diff: a kernel's argument is shown as its bytes and as numbers" {
	run_of 100 0x7f0000000000 >a
	run_of 222 0x7e4400000000 's/"hex":"00000040"/"hex":"00004040"/' >b
	run_sep hrr-diff a b
	status_is 1
	out_has '@@ -5 +5 @@ thread 1'
	out_has ' hipMalloc ptr=memory2 size=4096'
	out_has '  kernel.args[0]: 00000040 | 00004040  (i32 1073741824 | 1077936128, f32 2 | 3)'
}

@test "hrr-diff: an address counts by what it stands for: another buffer, another offset" {
	run_of 100 0x7f0000000000 >a
	# The launch gets the second buffer.
	run_of 100 0x7f0000000000 "/Launch/s/\"hex\":\"$(le 7f0000000000)\"/\"hex\":\"$(le 7f0000010000)\"/" >b
	run_sep hrr-diff a b
	status_is 1
	out_has 'kernel.args[1]+0: memory1 | memory2'
	run_of 100 0x7f0000000000 '/"hipMemcpy".*d2h/s/"src":"0x7f0000000000"/"src":"0x7f0000000010"/' >c
	run_sep hrr-diff a c
	status_is 1
	out_has 'args.src: memory1 | memory1+0x10'
}

@test "hrr-diff: one past the end is not the buffer" {
	run_of 100 0x7f0000000000 '/d2h/s/"src":"0x7f0000000000"/"src":"0x7f0000000fff"/' >a
	run_of 100 0x7f0000000000 '/d2h/s/"src":"0x7f0000000000"/"src":"0x7f0000001000"/' >b
	run_sep hrr-diff a b
	status_is 1
	out_has 'args.src: memory1+0xfff | host'
}

@test "hrr-diff: a stream is not another stream" {
	run_of 100 0x7f0000000000 >a
	sed '/Launch/s/"stream":"0x9[^"]*"/"stream":"0x0"/' a >b
	run_sep hrr-diff a b
	status_is 1
	out_like 'args.stream: stream1 \| 0x0'
}

@test "hrr-diff: a launch on several streams stands in the order of each" {
	local both='{"function_address":"0x55d0c0f0","gridDim":[1,1,1],"blockDim":[1,1,1],"sharedMem":0,"stream":"0x%d"}' list
	# shellcheck disable=SC2059 # the format is ours
	list=$(printf "$both,$both" 91 92)
	{
		header 1
		call 1 1 hipStreamCreate '"stream":"0x91"'
		call 2 1 hipStreamCreate '"stream":"0x92"'
		call 3 1 hipMalloc '"ptr":"0x1000","size":64'
		call 4 1 hipMemsetAsync '"dst":"0x1000","value":1,"sizeBytes":64,"stream":"0x91"'
		call 5 1 hipMemsetAsync '"dst":"0x1000","value":2,"sizeBytes":64,"stream":"0x92"'
		call 6 1 hipExtLaunchMultiKernelMultiDevice "\"launchParamsList\":[$list],\"numDevices\":2,\"flags\":0"
		call 7 1 hipMemsetAsync '"dst":"0x1000","value":3,"sizeBytes":64,"stream":"0x92"'
	} >a
	run_sep hrr-diff a a
	status_is 0
	# What was set on the second stream behind the launch comes before it.
	awk 'NR == 7 { held = $0; next } { print } END { print held }' a >b
	run_sep hrr-diff a b
	status_is 1
	# How work on either is mixed before it is luck, as ever.
	awk 'NR == 5 { held = $0; next } { print } NR == 6 { print held }' a >c
	run_sep hrr-diff a c
	status_is 0
}

@test "hrr-diff: memory freed and allocated again at one address is another object" {
	{
		header 1
		call 1 1 hipMalloc '"ptr":"0x1000","size":64'
		call 2 1 hipMalloc '"ptr":"0x2000","size":64'
		call 3 1 hipFree '"ptr":"0x1000"'
		call 4 1 hipMalloc '"ptr":"0x1000","size":64'
		call 5 1 hipMemset '"dst":"0x1000","value":0,"sizeBytes":64'
	} >a
	# Another run time gives the new one a new place: no difference.
	sed -e '5,$s/0x1000/0x8000/' a >b
	run_sep hrr-diff a b
	status_is 0
	# Writing to the other buffer is one.
	sed -e '5s/0x1000/0x8000/' -e '6s/0x1000/0x2000/' a >c
	run_sep hrr-diff a c
	status_is 1
	out_has 'args.dst: memory3 | memory2'
}

@test "hrr-diff: memory that only one run gave back is not what the other got later" {
	local i
	{
		header 1
		call 1 1 hipMalloc '"ptr":"0x1000","size":64'
		for i in 2 3 4 5 6; do call $i 1 hipDeviceSynchronize ''; done
		call 7 1 hipFree '"ptr":"0x1000"'
		call 8 1 hipMalloc '"ptr":"0x3000","size":64'
		call 9 1 hipMemset '"dst":"0x3000","value":0,"sizeBytes":64'
	} >a
	sed -e 8,9d -e s/0x3000/0x1000/ a >b
	run_sep hrr-diff a b
	status_is 1
	out_has 'args.dst: memory2 | memory1'
}

@test "hrr-diff: a hipFree that failed freed nothing" {
	{
		header 1
		call 1 1 hipMalloc '"ptr":"0x1000","size":64'
		call 2 1 hipFree '"ptr":"0x1000"' ',"ret":"hipErrorInvalidValue"'
		call 3 1 hipMemset '"dst":"0x1000","value":0,"sizeBytes":32'
	} >a
	sed '4s/0x1000/0x1010/' a >b
	run_sep hrr-diff a b
	status_is 1
	out_has 'args.dst: memory1 | memory1+0x10'
}

@test "hrr-diff: a call put in is one difference, not the start of many" {
	run_of 100 0x7f0000000000 >a
	{
		sed -n 1,4p a
		call 40 100 hipDeviceSynchronize ''
		sed -n '5,$p' a
	} >b
	run_sep hrr-diff a b
	status_is 1
	out_is "--- a
+++ b
@@ +40 @@ thread 1
 hipMalloc ptr=memory1 size=4096
 hipMalloc ptr=memory2 size=4096
 hipStreamCreate stream=stream1
+hipDeviceSynchronize"
	err_has '8 calls equal, 0 changed, 0 only in the first, 1 only in the second'
	run_sep hrr-diff b a
	status_is 1
	out_has '-hipDeviceSynchronize'
	err_has '1 only in the first, 0 only in the second'
}

@test "hrr-diff: one of many like calls taken out is found" {
	local i
	header 1 >a
	for i in $(seq 1 200); do
		call "$i" 1 hipMemset "\"dst\":\"0x1000\",\"value\":$i,\"sizeBytes\":64" >>a
	done
	sed 101d a >b
	run_sep hrr-diff a b
	status_is 1
	out_has '@@ -100 @@'
	err_has '199 calls equal, 0 changed, 1 only in the first, 0 only in the second'
}

@test "hrr-diff: an output that differs: bytes, ranges, and the call that delivered it" {
	run_of 100 0x7f0000000000 >a
	local other
	other=$(blob 'ABCDxFGHIJKLMNOP')
	run_of 222 0x7e4400000000 "/\"output\"/s/xxh128:[0-9a-f]*/$other/" >b
	run_sep hrr-diff a b
	status_is 1
	out_is "--- a
+++ b
@@ -6 +6 @@ thread 1, output of hipMemcpy
-output addr=host size=16 blob=$(grep -o 'xxh128:[0-9a-f]*' a | tail -1)
+output addr=host size=16 blob=$other
  blob: 1 of 16 bytes differ in 1 range
    0x4..0x5: 45 | 78"
	run_sep hrr-diff -l a b
	status_is 1
	out_is $'@@ -6 +6 @@ thread 1, output of hipMemcpy, blob\n5 105 170'
	run_sep hrr-diff -j a b
	status_is 1
	jq -e -s '.[0] | .diff=="output" and .api=="hipMemcpy" and .a.seq==6 and .b.seq==6 and .members[0].path=="blob" and .members[0].differing==1 and .members[0].ranges==[{"at":4,"size":1,"a":"45","b":"78"}]' .out
	jq -e -s '.[-1].diff=="end" and .[-1].differ==1' .out
}

# many N SKIP_FROM SKIP_TO: N sets on one stream with waits between them, those of a block left out.
many() {
	awk -v n="$1" -v from="$2" -v to="$3" 'BEGIN {
	print "{\"hrr\":1,\"pid\":1,\"command\":[],\"t0\":\"1\",\"blobs\":\"/nowhere\"}"
	head = "{\"seq\":1,\"t\":1,\"dur\":1,\"tid\":1,\"api\":\"hipMalloc\",\"args\":{\"ptr\":\"0x7f0000000000\",\"size\":4096}}"
	print head
	for (i = 2; i <= n; i++) {
		if (i >= from && i < to) continue
		head = "{\"seq\":" i ",\"t\":" i ",\"dur\":1,\"tid\":1,\"api\":"
		if (i % 7 == 0) print head "\"hipDeviceSynchronize\",\"args\":{}}"
		else print head "\"hipMemset\",\"args\":{\"dst\":\"0x7f0000000000\",\"value\":" i * i % 251 ",\"sizeBytes\":" i * 7919 % 4093 "}}"
	} }'
}

@test "hrr-diff: a block longer than the window of an alignment is taken out as a whole" {
	many 20000 0 0 >a
	many 20000 3000 13000 >b
	run_sep hrr-diff -j -n 100000 a b
	status_is 1
	jq -e -s 'map(select(.diff=="only" and .in=="a")) | length==10000 and .[0].a.seq==3000 and .[-1].a.seq==12999' .out
	jq -e -s 'map(select(.diff!="only" and .diff!="end")) | length==0' .out
	run_sep hrr-diff -j -n 100000 b a
	jq -e -s 'map(select(.diff=="only" and .in=="b")) | length==10000' .out
}

@test "hrr-diff: -1 tells the earliest call of all streams and threads" {
	local v
	for v in 0 1; do
		header 1
		call 1 1 hipMalloc '"ptr":"0x7f0000000000","size":4096'
		call 2 1 hipStreamCreate '"stream":"0x91"'
		call 3 1 hipStreamCreate '"stream":"0x92"'
		call 4 2 hipMalloc '"ptr":"0x7f0000010000","size":4096'
		# The thread's next call is told at once, the work before it when its stream is aligned.
		call 5 1 hipMemsetAsync "\"dst\":\"0x7f0000000000\",\"value\":$v,\"sizeBytes\":16,\"stream\":\"0x91\""
		call 6 1 hipMemsetAsync "\"dst\":\"0x7f0000000000\",\"value\":3,\"sizeBytes\":$((16 + v)),\"stream\":\"0x92\""
		call 7 1 hipMalloc "\"ptr\":\"0x7f0000020000\",\"size\":$((4096 + v))"
		call 8 2 hipMalloc "\"ptr\":\"0x7f0000030000\",\"size\":$((8192 + v))"
		call 9 1 hipDeviceSynchronize ''
		printf '{"end":"complete","t":99,"calls":9,"outputs":0,"regions":0,"lost":0,"notRecorded":{},"realtime":"3"}\n'
	done | awk -v n=0 '/^{"hrr"/ { n++ } { print >("run" n) }'
	run_sep hrr-diff -n 20 run1 run2
	status_is 1
	first=$(grep -m1 '^@@' .out)
	run_sep hrr-diff -1 run1 run2
	status_is 1
	out_has '@@ -5 +5 @@'
	[ "$(grep -c '^@@' .out)" = 1 ]
	[ "$first" != "$(grep '^@@' .out)" ] # it was not the first to be found
	run_sep hrr-diff -1j run1 run2
	jq -e -s 'length==2 and .[0].a.seq==5 and .[1].diff=="end"' .out
	run_sep hrr-diff -q run1 run2
	status_is 1
}

@test "hrr-diff: work of one stream that a block is missing from" {
	many 6000 0 0 | sed 's/"hipMemset"/"hipMemsetAsync"/; s/}}$/,"stream":"0x0"}}/; s/"hipDeviceSynchronize","args":{,/"hipStreamQuery","args":{/' >a
	many 6000 2000 4000 | sed 's/"hipMemset"/"hipMemsetAsync"/; s/}}$/,"stream":"0x0"}}/; s/"hipDeviceSynchronize","args":{,/"hipStreamQuery","args":{/' >b
	run_sep hrr-diff -j -n 100000 a b
	status_is 1
	jq -e -s '[.[] | select(.diff!="end")] | length > 1500 and length <= 2000 and all(.[]; .diff=="only" and .in=="a")' .out
}

@test "hrr-diff: wide integers are not compared as the doubles near them" {
	printf '\000\000\000\000\000\000\000\020\005\000\000\000\000\000\000\000' >a # 2^60, 5
	printf '\001\000\000\000\000\000\000\020\005\000\000\000\000\000\000\000' >b
	run_sep hrr-diff -t i64 a b
	status_is 1
	out_has '1 of 2 differ, 0 within tolerance, worst abs 1 at [0]'
	run_sep hrr-diff -t i64 --atol 1 a b
	status_is 0
}

@test "hrr-diff: what is infinitely far, as JSON" {
	printf '\000\000\200\077\000\000\000\000' >a # 1, 0
	printf '\000\000\200\077\000\000\000\100' >b # 1, 2
	run_sep hrr-diff -j -t f32 a b
	status_is 1
	jq -e -s '.[0].typed | .rel=={"value":"inf","index":1} and .abs=={"value":2,"index":1}' .out
}

@test "hrr-diff: a typed view and its tolerances" {
	local x y
	x=$(blob '\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\xc0\x7f\x00\x00\x80\x7f')
	y=$(blob '\x01\x00\x80\x3f\x00\x00\x00\x40\x01\x00\xc0\x7f\x00\x00\x80\x7f')
	run_of 100 0x7f0000000000 "/\"output\"/s/xxh128:[0-9a-f]*/$x/" >a
	run_of 222 0x7e4400000000 "/\"output\"/s/xxh128:[0-9a-f]*/$y/" >b
	run_sep hrr-diff -t f32 a b
	status_is 1
	out_has 'f32: 2 of 4 differ, 0 within tolerance'
	out_has 'ulp 1 at [0]; NaN 1 | 1, infinite 1 | 1'
	out_has '    [0] 1 | 1.00000012'
	run_sep hrr-diff -t f32 --ulp 1 a b
	status_is 1
	out_has 'f32: 1 of 4 differ, 1 within tolerance'
	run_sep hrr-diff -t f32 --atol 1e-6 --equal-nan a b
	status_is 0
	err_has '1 pairs of blobs are equal within tolerance only'
	run_sep hrr-diff -t f32 --rtol 1e-9 --equal-nan a b
	status_is 1
	run_sep hrr-diff --ulp 1 a b
	status_is 2
	err_has 'a tolerance needs -t'
}

@test "hrr-diff: threads are matched by what they do" {
	local i t
	threads() { # TID-OF-FIRST TID-OF-SECOND, in which order they come
		header 1
		call 1 1 hipInit '"flags":0'
		for i in $(seq 1 50); do
			call $((i * 2)) "$1" hipMemset "\"dst\":\"0x1000\",\"value\":$((${3:-0} + i)),\"sizeBytes\":1"
			call $((i * 2 + 1)) "$2" hipMemset "\"dst\":\"0x1000\",\"value\":$((100 - ${3:-0} + i)),\"sizeBytes\":1"
		done
	}
	threads 7 8 0 >a
	threads 7 8 100 >b # thread 7 does what 8 did: values 101.., and 8 does 1..
	run_sep hrr-diff a b
	status_is 0
	err_has 'equal: 101 calls'
	# A thread that is not there at all.
	grep -v '"tid":8,' a >c
	run_sep hrr-diff -n 1 a c
	status_is 1
	err_has '51 calls equal, 0 changed, 50 only in the first'
	err_has '49 more differences are not shown'
}

# streams_of SEED [WAIT]: a run that gives work to three streams, mixed by SEED; WAIT: it waits for the
# device after each so many calls. The work itself, and its order on each stream, is always the same.
streams_of() {
	header 7
	awk -v seed="$1" -v wait="${2:-0}" 'BEGIN {
		srand(seed); base = 65536 * (seed + 1)
		for (s = 1; s <= 3; s++) say("hipStreamCreate", sprintf("\"stream\":\"0x%x\"", base + s))
		for (s = 1; s <= 3; s++) say("hipMalloc", sprintf("\"ptr\":\"0x%x\",\"size\":4096", base * 16 + s * 8192))
		for (round = 0; round < (wait ? 9 : 1); round++) {
			for (s = 1; s <= 3; s++) left[s] = wait ? wait : 300
			for (all = 3 * left[1]; all > 0; all--) {
				do s = 1 + int(rand() * 3); while (left[s] == 0)
				left[s]--; n[s]++
				say("hipMemsetAsync", sprintf("\"dst\":\"0x%x\",\"value\":%d,\"sizeBytes\":%d,\"stream\":\"0x%x\"", base * 16 + s * 8192, n[s] % 5, 8 + n[s] % 3, base + s))
			}
			if (wait) say("hipDeviceSynchronize", "")
		}
	}
	function say(api, args) { printf "{\"seq\":%d,\"t\":%d,\"dur\":1,\"tid\":%d,\"api\":\"%s\",\"args\":{%s}}\n", ++seq, seq * 10, base, api, args }'
}

@test "hrr-diff: work on several streams may be mixed in any order" {
	streams_of 1 >a
	streams_of 2 >b
	run_sep hrr-diff a b
	no_out
	status_is 0
	err_has 'hrr-diff: equal: 906 calls, 0 outputs'
	streams_of 1 20 >a
	streams_of 2 20 >b
	run_sep hrr-diff a b
	no_out
	status_is 0
	# One of them taken out is one difference, where it was.
	local seq
	seq=$(grep -n '"value":3.*"stream":"0x30002"' b | sed -n '20s/:.*//p')
	sed "${seq}d" b >c
	run_sep hrr-diff a c
	status_is 1
	err_has '554 calls equal, 0 changed, 1 only in the first, 0 only in the second'
	[ "$(grep -c '^-hip' .out)" = 1 ]
	out_has '-hipMemsetAsync dst=memory2 value=3 sizeBytes='
	# Another value on one stream is one as well.
	sed "${seq}s/\"value\":3/\"value\":33/" b >c
	run_sep hrr-diff a c
	status_is 1
	out_has '  args.value: 3 | 33'
	err_has '1 changed, 0 only in the first, 0 only in the second'
}

@test "hrr-diff: the order on one stream is no luck" {
	{
		header 1
		call 1 1 hipStreamCreate '"stream":"0x11"'
		call 2 1 hipStreamCreate '"stream":"0x12"'
		call 3 1 hipMalloc '"ptr":"0x1000","size":64'
		call 4 1 hipMemsetAsync '"dst":"0x1000","value":1,"sizeBytes":8,"stream":"0x11"'
		call 5 1 hipMemsetAsync '"dst":"0x1000","value":2,"sizeBytes":8,"stream":"0x12"'
		call 6 1 hipMemsetAsync '"dst":"0x1000","value":3,"sizeBytes":8,"stream":"0x11"'
		call 7 1 hipDeviceSynchronize ''
		call 8 1 hipFree '"ptr":"0x1000"'
	} >a
	awk 'NR == 5 { x = $0; next } { print } NR == 7 { print x }' a >b
	run_sep hrr-diff a b
	status_is 1
	err_has '7 calls equal, 0 changed, 1 only in the first, 1 only in the second'
	# Nor is it which side of a wait work is on.
	awk 'NR == 6 { x = $0; next } { print } NR == 8 { print x }' a >c
	run_sep hrr-diff a c
	status_is 1
	out_is '--- a
+++ c
@@ -5 +5 @@ thread 1
 hipStreamCreate stream=stream2
 hipMalloc ptr=memory1 size=64
 hipMemsetAsync dst=memory1 value=1 sizeBytes=8 stream=stream1
-hipMemsetAsync dst=memory1 value=2 sizeBytes=8 stream=stream2
+hipMemsetAsync dst=memory1 value=2 sizeBytes=8 stream=stream2
  order: "from the start" | "after call 7"'
	# Work on another stream is one difference.
	sed '6s/0x12/0x11/' a >d
	run_sep hrr-diff a d
	status_is 1
	out_has '  args.stream: stream2 | stream1'
	err_has '7 calls equal, 1 changed, 0 only in the first, 0 only in the second'
}

@test "hrr-diff: waiting for an event is waiting for what was recorded into it" {
	{
		header 1
		call 1 1 hipStreamCreate '"stream":"0x11"'
		call 2 1 hipStreamCreate '"stream":"0x12"'
		call 3 1 hipEventCreate '"event":"0x21"'
		call 4 1 hipEventRecord '"event":"0x21","stream":"0x11"'
		call 5 1 hipMemsetAsync '"dst":"0x1000","value":1,"sizeBytes":8,"stream":"0x11"'
		call 6 1 hipEventRecord '"event":"0x21","stream":"0x11"'
		call 7 1 hipStreamWaitEvent '"stream":"0x12","event":"0x21","flags":0'
		call 8 1 hipDeviceSynchronize ''
	} >a
	run_sep hrr-diff a a
	status_is 0
	awk 'NR == 7 { x = $0; next } { print } NR == 8 { print x }' a >b
	run_sep hrr-diff a b
	status_is 1
	out_has '  args.event.record: record2 | record1'
	err_has '7 calls equal, 1 changed'
}

@test "hrr-diff: how often a program asked whether something is done does not count" {
	{
		header 1
		call 1 1 hipStreamCreate '"stream":"0x10"'
		call 2 1 hipStreamQuery '"stream":"0x10"' ',"ret":"hipErrorNotReady"'
		call 3 1 hipStreamQuery '"stream":"0x10"' ',"ret":"hipErrorNotReady"'
		call 4 1 hipStreamQuery '"stream":"0x10"'
	} | sed 's/"args":\({[^}]*}\),"ret":\("[A-Za-z]*"\)/"ret":\2,"args":\1/' >a
	sed 3,4d a >b
	run_sep hrr-diff a b
	status_is 0
	# One that failed in another way does.
	sed '4s/hipErrorNotReady/hipErrorLaunchFailure/' a >c
	run_sep hrr-diff a c
	status_is 1
	out_has hipErrorLaunchFailure
}

@test "hrr-diff: a failed call and one that did not fail are not the same" {
	run_of 100 0x7f0000000000 >a
	sed '9s/"args"/"ret":"hipErrorInvalidValue","args"/' a >b
	run_sep hrr-diff a b
	status_is 1
	out_has 'ret: (none) | hipErrorInvalidValue'
}

@test "hrr-diff: -1 stops at the first, -n limits what is shown" {
	run_of 100 0x7f0000000000 >a
	sed 's/"size":4096/"size":4000/' a >b
	run_sep hrr-diff -1 a b
	status_is 1
	[ "$(grep -c '^@@' .out)" -eq 1 ]
	run_sep hrr-diff -n 0 a b
	status_is 1
	no_out
	err_has '2 changed'
	run_sep hrr-diff a b
	[ "$(grep -c '^@@' .out)" -eq 2 ]
}

@test "hrr-diff: a missing or damaged blob is trouble that names it" {
	run_of 100 0x7f0000000000 >a
	local other
	other=$(blob 'ABCDxFGHIJKLMNOP')
	run_of 222 0x7e4400000000 "/\"output\"/s/xxh128:[0-9a-f]*/$other/" >b
	local file=$B/${other:7:2}/${other:7}
	printf 'ABCDyFGHIJKLMNOP' >"$file"
	run_sep hrr-diff a b
	status_is 2
	err_has "$other"
	rm -f "$file"
	run_sep hrr-diff a b
	status_is 2
	err_has "$other"
	# The ids say that they differ all the same.
	out_has '@@ -6 +6 @@ thread 1, output of hipMemcpy'
}

@test "hrr-diff: a bad line is trouble with its number, a cut one is said" {
	run_of 100 0x7f0000000000 >a
	sed '4s/"seq"/"sex"/;4s/"api"/"seq"/' a >b
	run_sep hrr-diff a b
	status_is 2
	err_like '^hrr-diff: b:4: '
	head -c -20 a >c
	run_sep hrr-diff a c
	status_is 0
	err_has 'hrr-diff: c: cut short'
	: >empty
	run_sep hrr-diff a empty
	status_is 2
	err_has 'empty'
	head -1 a >only-header
	run_sep hrr-diff only-header only-header
	status_is 0
	err_has 'equal: 0 calls'
}

@test "hrr-diff: records and members it does not know" {
	run_of 100 0x7f0000000000 >a
	sed '3i{"marker":"phase 2"}' a | sed 's/"api":"hipFree"/"note":"x","api":"hipFree"/' >b
	run_sep hrr-diff b b
	status_is 0
	run_sep hrr-diff a b
	status_is 1
	out_has 'note: (none) | x'
}

@test "hrr-diff: annotated memory is an object too" {
	for base in 7000 9000; do
		{
			header 1
			printf '{"region":"add","kind":"segment","device":0,"base":"0x%s0000","size":65536}\n' $base
			call 1 1 hipMemset "\"dst\":\"0x${base}0040\",\"value\":0,\"sizeBytes\":64"
		} >"r$base"
	done
	run_sep hrr-diff r7000 r9000
	status_is 0
	sed 's/0x90000040/0x90000080/' r9000 >moved
	run_sep hrr-diff r7000 moved
	status_is 1
	out_has 'args.dst: memory1+0x40 | memory1+0x80'
}

@test "hrr-diff: an annotation that only one recording has is said, and is no difference" {
	{
		header 1
		printf '{"region":"add","kind":"segment","device":0,"base":"0x70000000","size":65536}\n'
		call 1 1 hipMemset '"dst":"0x70000040","value":0,"sizeBytes":64'
		call 2 1 hipLaunchKernel '"stream":"0x0"' \
			",\"kernel\":{\"name\":\"k\",\"args\":[{\"offset\":0,\"size\":8,\"hex\":\"$(le 70000080)\"}]}"
	} >a
	sed 2d a | sed "s/$(le 70000080)/$(le 91000080)/; s/0x70000040/0x91000040/" >b
	for pair in 'a b' 'b a'; do
		# shellcheck disable=SC2086
		run_sep hrr-diff $pair
		status_is 0
		err_like '1 annotations are in the first only, 0|annotations are in the first only, 1 in'
		err_has 'nothing declares'
	done
}

@test "hrr-diff: addresses that nothing declares are said to be taken as equal" {
	{
		header 1
		call 1 1 hipMemset '"dst":"0x7000","value":0,"sizeBytes":64'
	} >a
	sed 's/0x7000/0x8000/' a >b
	run_sep hrr-diff a b
	status_is 0
	err_has '1 pairs of device addresses that nothing declares were taken as equal'
}

@test "hrr-diff: files and blobs, byte by byte" {
	printf 'one two' >x
	printf 'one tWo' >y
	cp x z
	run_sep hrr-diff x z
	status_is 0
	no_out
	run_sep hrr-diff x y
	status_is 1
	out_is '  bytes: 1 of 7 bytes differ in 1 range
    0x5..0x6: 77 | 57'
	run_sep hrr-diff -l x y
	out_is "$(cmp -l x y)"
	printf 'one two three' >longer
	run_sep hrr-diff x longer
	status_is 1
	out_has 'bytes: 7 | 13 bytes; of the first 7, 0 differ'
	: >nothing
	run_sep hrr-diff nothing nothing
	status_is 0
	local a b
	a=$(blob abc)
	b=$(blob abd)
	run_sep hrr-diff -b "$B" "$a" "$b"
	status_is 1
	out_has '0x2..0x3: 63 | 64'
	run_sep hrr-diff "$a" "$b"
	status_is 2
	run_of 100 0x7f0000000000 >s
	run_sep hrr-diff s x
	status_is 2
	err_has 'not a recording'
	run_sep hrr-diff x no-such-file
	status_is 2
}

@test "hrr-diff: files of which the size is not told, and of which one ends early" {
	cp /proc/version x
	run_sep hrr-diff x /proc/version
	status_is 0
	printf 'X' | dd of=x conv=notrunc status=none
	run_sep hrr-diff -l x /proc/version
	status_is 1
	out_is "$(cmp -l x /proc/version)"
	printf 'one' >short
	printf 'onX two' >long
	run_sep hrr-diff -l short long
	status_is 1
	out_is '3 145 130'
	err_is 'hrr-diff: short: ends after byte 3'
}

@test "hrr-diff: a file that becomes shorter while it is compared is trouble, not a crash" {
	head -c 3000000 /dev/zero >p
	tr '\0' x <p >q
	mkfifo f
	hrr-diff -l p q >f 2>err &
	local pid=$!
	exec 7<f
	# It has begun, and waits for a reader before most of q was looked at.
	head -c 100 <&7 >/dev/null
	truncate -s 4096 q
	cat <&7 >/dev/null
	exec 7<&-
	local code=0
	wait $pid || code=$?
	cat err
	[ "$code" = 2 ]
	grep -qx 'hrr-diff: q: became shorter while it was compared' err
}

@test "hrr-diff: standard output that is full is trouble" {
	run_of 100 0x7f0000000000 >a
	sed 's/"size":4096/"size":4000/' a >b
	run_sep bash -c 'hrr-diff a b >/dev/full'
	status_is 2
	run_sep bash -c 'hrr-diff a b >&-'
	status_is 2
}

@test "hrr-diff: two recordings of one program are equal, of two inputs are not" {
	need_emu
	need_prog hrr-capture
	need_apps saxpy streams threads graphcap structarg
	local p
	for p in saxpy streams threads graphcap structarg modlaunch hostreg; do
		hrr-capture -d emu -o "$p.1" -- "$APPS/$p" >/dev/null
		hrr-capture -d emu -o "$p.2" -- "$APPS/$p" >/dev/null
		hrr-capture -d emu -o "$p.3" -- "$APPS/$p" 3 >/dev/null
		run_sep hrr-diff "$p.1" "$p.2"
		status_is 0
		run_sep hrr-diff "$p.1" "$p.3"
		status_is 1
		err_like '[1-9][0-9]* differ'
	done
	run_sep hrr-diff saxpy.1 saxpy.3
	out_has 'f32 2 | 3'
	out_has ', output of hipMemcpy'
}

@test "hrr-diff: archives of upstream's recorder, of two versions" {
	local d=$ROOT/t/data/hrr
	[ -d "$d/saxpy-v5" ] || d=$ROOT/../shared/data/hrr
	[ -d "$d/saxpy-v5" ] || skip 'no upstream archives here'
	run_sep hrr-diff "$d/saxpy-v5" "$d/saxpy-v8"
	status_is 0
	err_is 'hrr-diff: equal: 12 calls, 1 outputs'
	run_sep hrr-diff "$d/saxpy-v8" "$d/scale-v8"
	status_is 1
}

@test "hrr-diff: two replays: their results, and the first kernel that wrote other bytes" {
	need_emu
	need_prog hrr-capture hrr-play
	need_apps graphcap saxpy
	local a
	for a in 2 3; do
		hrr-capture -q -d emu -o $a.hrr -- "$APPS/saxpy" $a >/dev/null
	done
	hrr-play -q -d emu -r r1 --hash-launches h1 2.hrr
	hrr-play -q -d emu -r r2 --hash-launches h2 2.hrr
	hrr-cat 2.hrr | sed 's/"hex":"00000040"/"hex":"00002040"/' >changed
	run_sep hrr-play -q -d emu -r r3 --hash-launches h3 changed
	status_is 1
	run_sep hrr-diff r1 r2
	status_is 0
	no_out
	err_is 'hrr-diff: equal: 2 results'
	run_sep hrr-diff r1 r3
	status_is 1
	out_has 'outcome: exact | differs'
	out_has 'verdict: matched | differs'
	run_sep hrr-diff h1 h2
	status_is 0
	run_sep hrr-diff h1 h3
	status_is 1
	out_like 'kernel.args\[1\]: 00000040 \| 00002040'
	out_like '  blob: '
	# What a kernel wrote is no host memory.
	out_like $'\n-output addr=undeclared:0x7'
	out_lacks 'addr=host'
	# Ids without their blobs: the answer is the same.
	sed -i '1s/"blobs":"[^"]*"/"blobs":"\/nowhere"/' h1 h3
	run_sep hrr-diff h1 h3
	status_is 1
	out_like '  blob: xxh128:[0-9a-f]+ \| xxh128:'
	err_has 'no blobs here: the ids alone are compared'
	run_sep hrr-diff h1 h1
	status_is 0
}

@test "diff: our recording and upstream's of the same program are equal in what both hold" {
	need_prog hrr-capture
	need_emu
	need_apps saxpy graphcap launches
	for a in saxpy graphcap launches; do
		run_sep hrr-capture -q -d emu -o $a.hrr -- "$APPS/$a"
		status_is 0
		hrr-cat -q -o $a.8 --format hrr8 $a.hrr 2>/dev/null
		for pair in "$a.hrr $a.8" "$a.8 $a.hrr"; do
			# shellcheck disable=SC2086 # two words
			run_sep hrr-diff $pair
			status_is 0
			err_has 'equal: '
			err_has 'were not compared: one of the formats has no place for them'
		done
	done
	# Upstream has one number for most launch calls, and records no call that failed.
	hrr-cat saxpy.8 | sed 's/"api":"hipLaunchKernel"/"api":"hipModuleLaunchKernel"/' >other
	hrr-cat saxpy.hrr | sed 's/"api":"hipGetLastError"/&,"ret":"hipErrorInvalidValue"/' >failed
	hrr-cat saxpy.8 | sed '/"api":"hipGetLastError"/d' >fewer
	run_sep hrr-diff saxpy.hrr other
	status_is 0
	run_sep hrr-diff failed fewer
	status_is 0
	run_sep hrr-diff saxpy.hrr <(hrr-cat saxpy.8 | sed '/"api":"hipGetDeviceCount"/d')
	status_is 1
	# What both hold is compared.
	run_sep hrr-capture -q -d emu -o three.hrr -- "$APPS/saxpy" 3
	run_sep hrr-diff three.hrr saxpy.8
	status_is 1
	out_has '  kernel.args[1]: 00004040 | 00000040'
	err_has '1 changed, 0 only in the first, 0 only in the second; 0 outputs equal, 1 differ'
	# Two of one format hold the same.
	run_sep hrr-diff saxpy.8 <(hrr-cat saxpy.8 | sed 's/,"threadLimit":4294967295//')
	status_is 1
	out_has '  args.threadLimit: 4294967295 | (none)'
}

@test "hrr-diff: what could not be compared is not called equal" {
	run_sep hrr-diff /dev/null /dev/null
	status_is 2
	no_out
	err_has 'hrr-diff: no difference was found, but not all was compared'
	err_lacks 'equal:'
	: >empty
	run_sep hrr-diff empty empty
	status_is 0
}
