# hrr-cat: print, select, export.
# shellcheck disable=SC2086,SC2016 # $S and $f have no blanks, or are meant to be split
load helper

setup() {
	common_setup
	need_prog hrr-cat
	need_cmd jq
	cp -r "$ROOT/t/data/streams/small" small
	S=small/pid-4242
}

# seq of the calls printed
seqs() { jq -r 'select(has("seq")) | .seq' | tr '\n' ' '; }
select_is() { # EXPR SEQS
	run_sep hrr-cat -e "$1" $S
	status_is 0
	[ "$(seqs <"$T/.out")" = "$2" ] || saw "$1 should select: $2"
}

@test "cat: a stream that is not changed is printed byte for byte" {
	hrr-cat --no-sidecars $S >got
	diff <(sed 1d $S/events.jsonl) <(sed 1d got)
	diff <(sed 1q $S/events.jsonl | jq -c 'del(.blobs)') <(sed 1q got | jq -c 'del(.blobs)')
	hrr-cat <got >again
	cmp got again
}

@test "cat: the header names the blobs by absolute path" {
	for x in small/pid-4242 small/pid-4242/events.jsonl "$PWD/small/pid-4242"; do
		run_sep hrr-cat "$x"
		[ "$(jq -r 'select(.hrr) | .blobs' <"$T/.out")" = "$(realpath small/blobs)" ]
	done
	mkdir else
	run_sep hrr-cat -b else $S
	[ "$(jq -r 'select(.hrr) | .blobs' <"$T/.out")" = "$(realpath else)" ]
	run_sep hrr-cat -b nowhere $S
	status_is 2
	err_is 'hrr-cat: nowhere: cannot open blob folder: No such file or directory'
}

@test "cat: processes of an archive are merged by time and told apart by p" {
	run_sep hrr-cat small
	status_is 0
	no_err
	[ "$(jq -c 'select(has("seq")) | [.p,.seq]' <"$T/.out" | tr -d '\n')" = \
		'[0,1][0,2][0,3][0,4][1,1][0,5][0,6][0,7][0,8][1,2][0,9]' ]
	[ "$(jq -c 'select(has("hrr")) | .p' <"$T/.out" | tr -d '\n')" = 01 ]
	hrr-cat small | hrr-cat >again
	cmp "$T/.out" again
}

@test "cat: --pid takes one process of an archive or of a merged stream" {
	run_sep hrr-cat --pid 4250 small
	status_is 0
	[ "$(seqs <"$T/.out")" = '1 2 ' ]
	out_lacks '"p":'
	run_sep bash -c 'hrr-cat small | hrr-cat --pid 4250 -c'
	out_is 2
	run_sep hrr-cat --pid 1 small
	status_is 2
	err_is 'hrr-cat: small: no process 1 in it: it has 4242 4250'
	run_sep bash -c 'hrr-cat small | hrr-cat --pid 1'
	status_is 2
	err_is 'hrr-cat: -: no process 1 in it'
}

@test "cat: sidecars are merged at their time, or left out, or named" {
	run_sep hrr-cat $S
	[ "$(jq -c 'if .region then [.region,.t] else .seq // empty end' <"$T/.out" | tr -d '\n')" = \
		'12["add",2500]345["add",5600]6789["del",9500]' ]
	[ "$(jq -c 'select(.end) | [.end,.regions]' <"$T/.out")" = '["complete",3]' ]
	run_sep hrr-cat --no-sidecars $S
	[ "$(jq -c 'select(.region) | .region' <"$T/.out")" = '"add"' ]
	run_sep hrr-cat --no-sidecars --regions $S/regions/pool.jsonl $S
	[ "$(jq -c 'select(.region) | .region' <"$T/.out" | tr -d '\n')" = '"add""add""del"' ]
	run_sep hrr-cat --regions nothing $S
	status_is 2
	err_is 'hrr-cat: nothing: cannot open sidecar: No such file or directory'
}

@test "cat: a sidecar's cut line and strange clock are said" {
	printf '{"region":"ad' >>$S/regions/pool.jsonl
	run_sep hrr-cat $S
	status_is 0
	err_is "hrr-cat: $S: a sidecar's last line is not whole and left out"
	sed -i 's/81233999999000/1000/;$d' $S/regions/pool.jsonl
	run_sep hrr-cat $S
	status_is 0
	err_like 'the clock of a sidecar does not fit'
	echo '{"region":"add","base":"0x1","size":"x"}' >>$S/regions/pool.jsonl
	run_sep hrr-cat $S
	status_is 2
	err_is "hrr-cat: $S/regions/pool.jsonl:4: bad record: \"size\" is not a whole number of 0 or more"
}

@test "cat -e: every key and operator of the grammar" {
	select_is 'hipMemcpy' '3 7 '
	select_is 'hipMem*' '3 7 '
	select_is 'hip[FS]*' '1 4 6 9 '
	select_is '@copy' '3 7 '
	select_is '@alloc' '2 8 '
	select_is '@free or @launch' '5 9 '
	select_is '@ctx' ''
	select_is '@misc or hipSetDevice' '1 '
	select_is 'api=hipFree,hipMalloc' '2 8 9 '
	select_is 'api!=hipMalloc and not hipMem* and tid=4242' '1 9 '
	select_is 'kernel=*upper*' '5 '
	select_is 'kernel="_Z5upperPc"' '5 '
	select_is 'ret=hipErrorOutOfMemory' '8 '
	select_is 'ret!=hipSuccess' '8 '
	select_is 'dir=d2h' '7 '
	select_is 'seq=2..4' '2 3 4 '
	select_is 'seq=..2,8..' '1 2 8 9 '
	select_is 'seq=1..9/3' '1 4 7 '
	select_is 'seq>7' '8 9 '
	select_is 'seq>=7' '7 8 9 '
	select_is 'seq<2' '1 '
	select_is 'seq<1' ''
	select_is 'seq<=2' '1 2 '
	select_is 't=2us..3us' '2 3 '
	select_is 't=0.0035ms..4us' '4 '
	select_is 'dur>=500ns' '3 5 7 '
	select_is 'tid=4243' '4 5 6 '
	select_is 'size=16' '2 3 7 '
	select_is 'size>1G' '8 '
	select_is 'size>0.5T' '8 '
	select_is 'stream=0x6000' '4 5 6 '
	select_is 'addr=0x7f0000000000' '2 3 5 7 9 '
	select_is 'addr=0x7f000000000f' '2 3 7 '
	select_is 'addr=0x7f0000000010' ''
	select_is 'addr=0x55d0c000+4K' '3 5 '
	select_is '(hipFree or hipMalloc) and not (seq<5)' '8 9 '
	select_is 'not not seq=1' '1 '
	select_is 'seq=1 or seq=2 and seq=3' '1 '
}

@test "cat -e: t with a step takes the first call of each, of those that else fit" {
	{
		echo '{"hrr":1,"pid":1,"command":[],"t0":"1","blobs":"/none"}'
		i=0
		for t in 1003 1400 2100 2200 2999 3500 3400 7001 7002 6500 9999; do
			i=$((i + 1))
			api=hipFree
			[ $((i % 2)) -eq 0 ] && api=hipMalloc
			echo "{\"seq\":$i,\"t\":$t,\"dur\":1,\"tid\":1,\"api\":\"$api\",\"args\":{}}"
		done
	} >steps.jsonl
	S=steps.jsonl
	select_is 't=../1us' '1 3 6 8 11 '
	select_is 't=0..7us/1us' '1 3 6 10 '
	select_is 't=1500..5us/1us' '3 5 6 '
	select_is 't=1us..5us/2us' '1 6 '
	select_is 't=../1us and hipMalloc' '2 4 6 8 '
	select_is 'hipMalloc and t=../1us' '2 4 6 8 '
	select_is 't=../1us and api=* and hipMalloc' '2 4 6 8 '
	select_is 'hipMalloc and not t=../1us' '10 '
	select_is 'not hipFree and t!=../1us' '10 '
	select_is 't=../1us or seq=2' '1 2 3 6 8 11 '
	select_is 'seq=3 or t=../1us' '1 3 6 8 11 '
	select_is 'seq=1,3 or (hipMalloc and t=../1us)' '1 2 3 4 6 8 '
	select_is 't=../1us,2200' '1 3 4 6 8 11 '
}

@test "cat -e: several values, with quotes or without" {
	select_is 'dir="h2d"' '3 '
	select_is 'dir="h2d",d2h' '3 7 '
	select_is 'dir=h2d,"d2h"' '3 7 '
	select_is 'dir=?2h,"d2d"' '7 '
}

@test "cat -e: several are any of them; -x takes the others" {
	run_sep hrr-cat -e seq=1 -e seq=9 $S
	[ "$(seqs <"$T/.out")" = '1 9 ' ]
	run_sep hrr-cat -x -e @copy $S
	[ "$(seqs <"$T/.out")" = '1 2 4 5 6 8 9 ' ]
	run_sep hrr-cat -x $S
	status_is 2
}

@test "cat -e: outputs follow their call; regions and unknown records stay" {
	run_sep hrr-cat --no-sidecars -e seq=7 $S
	[ "$(jq -r 'keys_unsorted[0]' <"$T/.out" | tr '\n' ' ')" = 'hrr runtime region note seq output end ' ]
	run_sep hrr-cat --no-sidecars -e seq=6 $S
	[ "$(jq -r 'keys_unsorted[0]' <"$T/.out" | tr '\n' ' ')" = 'hrr runtime region seq note end ' ]
}

@test "cat -e: the end record counts what is kept and says filtered" {
	run_sep hrr-cat -e '@copy' $S
	no_err
	[ "$(jq -c 'select(.end) | [.end,.calls,.outputs,.regions,.notRecorded]' <"$T/.out")" = \
		'["filtered",2,1,3,{"hipTexObjectCreate":2}]' ]
	run_sep hrr-cat -e 'seq>=1' $S
	[ "$(jq -r 'select(.end) | .end' <"$T/.out")" = complete ]
	run_sep bash -c "hrr-cat -e @copy $S | hrr-cat"
	no_err
}

@test "cat: a stream cut by grep does not pass for a whole one" {
	run_sep bash -c "hrr-cat $S | grep -v hipFree | hrr-cat"
	err_is 'hrr-cat: -: filtered or cut short: the end record counts other calls than there are'
	[ "$(jq -r 'select(.end) | .end' <"$T/.out")" = filtered ]
	run_sep bash -c "hrr-cat $S | grep hipFree | hrr-cat"
	status_is 0
	err_has 'hrr-cat: -: filtered or cut short: no end record'
	err_has 'hrr-cat: -: no header: the stream does not begin here'
}

@test "cat -e: what is not of the grammar is refused with the place" {
	bad_is() { # EXPR MESSAGE
		run_sep hrr-cat -e "$1" $S
		status_is 2
		no_out
		err_is "hrr-cat: bad selector: $2"
	}
	bad_is '' 'something is missing: ""'
	bad_is 'hipFree hipMalloc' '"and" or "or" is missing before: "hipMalloc"'
	bad_is 'hipFree and' 'something is missing: ""'
	bad_is 'and hipFree' 'something is missing before: "and hipFree"'
	bad_is '(hipFree' '")" is missing: ""'
	bad_is 'hipFree)' '"and" or "or" is missing before: ")"'
	bad_is '@nothing' 'no such family: "nothing"'
	bad_is 'color=red' 'no such key: "color"'
	bad_is 'seq=' 'a value is missing: "seq="'
	bad_is 'seq=x' 'neither a number nor a range here: "x"'
	bad_is 'seq=5..4' 'a range that ends before it begins: "5..4"'
	bad_is 'seq=1..4/0' 'a step of 0: "1..4/0"'
	bad_is 'seq=1..4/x' 'neither a number nor a range here: "1..4/x"'
	bad_is 'dir=up' 'no such direction: "up"'
	bad_is 'dir=h2d,h2x' 'no such direction: "h2x"'
	bad_is 'kernel="a' 'quotes that are not around a value: ""a"'
	bad_is 'kernel="a"b' 'quotes that are not around a value: ""a"b"'
	bad_is 'kernel=a"b"' 'quotes that are not around a value: "a"b""'
	bad_is 'kernel=a,,b' 'a value is missing: ",b"'
	bad_is 'seq=1.5' 'neither a number nor a range here: "1.5"'
	bad_is 'seq=5ms' 'neither a number nor a range here: "5ms"'
	bad_is 'api<x' 'names have no order: "api<x"'
	bad_is 'seq!5' 'no such operator: "!"'
	bad_is 'hip.Free' "not a call's name: \"hip.Free\""
	run_sep hrr-cat -e "$(printf '(%.0s' $(seq 100))" $S
	status_is 2
	err_like '^hrr-cat: bad selector: nested too deep'
}

@test "cat: --first and --last count calls, with outputs and regions in order" {
	run_sep hrr-cat --first 2 $S
	[ "$(seqs <"$T/.out")" = '1 2 ' ]
	[ "$(jq -c 'select(.end) | [.end,.calls,.outputs]' <"$T/.out")" = '["filtered",2,0]' ]
	run_sep hrr-cat --last 3 $S
	[ "$(seqs <"$T/.out")" = '7 8 9 ' ]
	[ "$(jq -c 'select(.end) | [.end,.calls,.outputs]' <"$T/.out")" = '["filtered",3,1]' ]
	run_sep hrr-cat --last 2 $S
	[ "$(seqs <"$T/.out")" = '8 9 ' ]
	[ "$(jq -c 'select(.end) | [.end,.calls,.outputs]' <"$T/.out")" = '["filtered",2,0]' ]
	run_sep hrr-cat --last 1 -e hipMemcpy -c $S
	out_is 1
	run_sep hrr-cat --last 100 $S
	hrr-cat $S >all
	cmp "$T/.out" all
	run_sep hrr-cat --first 1 --last 1 $S
	status_is 2
	run_sep hrr-cat --first 0 $S
	status_is 2
}

@test "cat --last: many calls pass through a small window" {
	{
		head -n 1 $S/events.jsonl
		for i in $(seq 3000); do
			echo "{\"seq\":$i,\"t\":$i,\"dur\":1,\"tid\":1,\"api\":\"hipFree\",\"args\":{}}"
			echo "{\"output\":$((i > 2 ? i - 2 : 1)),\"t\":$i,\"tid\":1,\"addr\":\"0x1\",\"size\":0,\"unknown\":\"\"}"
		done
	} >long
	run_sep hrr-cat --last 4 long
	[ "$(jq -r '(.seq // empty | "c\(.)"), (.output // empty | "o\(.)")' <"$T/.out" | tr '\n' ' ')" = \
		'c2997 c2998 c2999 o2997 c3000 o2998 ' ]
}

@test "cat -c: counts the calls that are selected" {
	run_sep hrr-cat -c small
	out_is 11
	run_sep hrr-cat -c -e @copy small
	out_is 2
}

@test "cat -o: an archive with just what is selected and its blobs" {
	run_sep hrr-cat -e '@copy' -o out.hrr small
	status_is 0
	no_out
	no_err
	[ "$(ls out.hrr)" = $'blobs\nmanifest.json\npid-4242\npid-4250' ]
	[ "$(find out.hrr/blobs -type f | wc -l)" -eq 2 ]
	[ "$(stat -c %a out.hrr out.hrr/pid-4242 out.hrr/pid-4242/events.jsonl | tr '\n' ' ')" = '700 700 600 ' ]
	[ "$(jq -r .state out.hrr/manifest.json)" = complete ]
	[ "$(sed 1q out.hrr/pid-4242/events.jsonl | jq -r .blobs)" = ../blobs ]
	[ "$(grep -c '"p":[0-9]' out.hrr/pid-4242/events.jsonl)" -eq 0 ]
	diff <(hrr-cat -e @copy --pid 4242 small | sed 1d) <(sed 1d out.hrr/pid-4242/events.jsonl)
	run_sep hrr-cat -o whole.hrr small
	diff <(hrr-cat small | grep -v '"hrr":1') <(hrr-cat whole.hrr | grep -v '"hrr":1')
}

@test "cat -o: takes a merged stream from a pipe" {
	run_sep bash -c 'hrr-cat small | hrr-cat -o out.hrr'
	status_is 0
	diff <(hrr-cat small | grep -v '"hrr":1') <(hrr-cat out.hrr | grep -v '"hrr":1')
}

@test "cat -o: appears whole or not at all" {
	mkdir there
	run_sep hrr-cat -o there small
	status_is 2
	err_is 'hrr-cat: there: cannot make archive: it is there already'
	run_sep hrr-cat -o no/where small
	status_is 2
	sed '5s/.*/{/' $S/events.jsonl >bad
	run_sep hrr-cat -b small/blobs -o out.hrr bad
	status_is 2
	[ ! -e out.hrr ]
	[ -z "$(find . -maxdepth 1 -name '.tmp*')" ]
	run_sep bash -c "grep -v '\"hrr\":1' $S/events.jsonl | hrr-cat -o out.hrr"
	status_is 2
	err_has 'no header: an archive cannot be made of this stream'
	[ ! -e out.hrr ]
	head -n 5 $S/events.jsonl >$S/cut.jsonl
	run_sep hrr-cat -o out.hrr $S/cut.jsonl
	status_is 0
	[ "$(jq -r .state out.hrr/manifest.json)" = cut ]
}

@test "cat -o: a missing and a damaged blob are named with their line" {
	b=small/blobs/ad/add4d3ce7bf0ff0c624a7c159d41e475
	chmod u+w $b
	echo damage >$b
	run_sep hrr-cat -o out.hrr $S
	status_is 2
	err_like "^hrr-cat: $S/events.jsonl:12: blob xxh128:add4d3ce7bf0ff0c624a7c159d41e475 is damaged: its 7 bytes hash to xxh128:"
	rm -f $b
	run_sep hrr-cat -o out.hrr $S
	status_is 2
	err_is "hrr-cat: $S/events.jsonl:12: blob xxh128:add4d3ce7bf0ff0c624a7c159d41e475 is missing"
	[ ! -e out.hrr ]
	run_sep bash -c "sed s,\.\./blobs,blobs, $S/events.jsonl | hrr-cat -o out.hrr"
	status_is 2
	err_like 'the stream does not say where its blobs are: name the folder with -b'
}

@test "cat: a live pipe is handed on line by line" {
	mkfifo in
	hrr-cat <in >got 2>/dev/null &
	cat_pid=$!
	exec 7>in
	head -n 2 $S/events.jsonl >&7
	for i in $(seq 100); do
		[ "$(wc -l <got)" -ne 2 ] || break
		sleep 0.05
	done
	[ "$(wc -l <got)" -eq 2 ]
	exec 7>&-
	wait $cat_pid
}

# peak FILE LINES ARG...: KiB that hrr-cat ARG... has held once it has printed LINES lines of FILE;
# its input stays open meanwhile, and it hands on what it has before it waits.
peak() {
	local file=$1 want=$2
	shift 2
	mkfifo in
	hrr-cat "$@" <in >out 2>/dev/null &
	local pid=$!
	exec 9>in
	cat "$file" >&9
	until [ "$(wc -l <out)" -ge "$want" ]; do
		kill -0 $pid || return 1
		sleep 0.05
	done
	awk '/VmHWM/ { print $2 }' "/proc/$pid/status"
	exec 9>&-
	wait $pid
	rm in
}

@test "cat: memory is 10 MiB and the largest line at most, however long the stream" {
	[ -z "$HRR_T_ASAN" ] || skip "ASan keeps what is freed"
	awk 'BEGIN {
		print "{\"hrr\":1,\"pid\":1,\"command\":[],\"t0\":\"1\",\"blobs\":\"/\"}"
		for (i = 1; i <= 120000; i++)
			print "{\"seq\":" i ",\"t\":" i * 10 ",\"dur\":1,\"tid\":1,\"api\":\"hip" (i % 2 ? "Free" : "Malloc") \
				"\",\"args\":{\"ptr\":\"0x7f" i "\",\"n" i % 3000 "\":\"" sprintf("%100d", i) "\"}}"
	}' >long
	[ "$(peak long 120001)" -le 10240 ]
	[ "$(peak long 60001 -e 'addr=0..0xffffffffffffffff and hipFree')" -le 10240 ]
	{
		head -n 1 long
		printf '{"seq":1,"t":1,"dur":1,"tid":1,"api":"hipX","args":{"x":"%08388608d"}}\n' 0
	} >wide
	[ "$(peak wide 2)" -le 18432 ]
	[ "$(peak wide 2 -e 'not size=1')" -le 18432 ]
}
