# hrr-regions: add, del, ls, check.
# shellcheck disable=SC2086,SC2016 # $S and $f have no blanks, or are meant to be split
load helper

setup() {
	common_setup
	need_prog hrr-cat hrr-regions
	need_cmd jq
	cp -r "$ROOT/t/data/streams/small" small
	S=small/pid-4242
}

order() { jq -r '(.region // empty), (.seq // empty), (.hrr // empty | "h"), (.end // empty | "e")' | tr '\n' ' '; }

@test "regions add: as a filter, behind the header, at a time, at a call" {
	run_sep bash -c "hrr-cat --no-sidecars $S | grep -v '\"region\"' | hrr-regions add --kind segment --base 0x5000 --size 64 --tag 'a b'"
	status_is 0
	[ "$(order <"$T/.out")" = 'h add 1 2 3 4 5 6 7 8 9 e ' ]
	out_has '{"region":"add","kind":"segment","device":0,"base":"0x5000","size":64,"tag":"a b"}'
	run_sep bash -c "grep -v '\"region\"' $S/events.jsonl | hrr-regions add --kind block --device 3 --base 0x5000 --size 64 --t 4000"
	[ "$(order <"$T/.out")" = 'h 1 2 3 add 4 5 6 7 8 9 e ' ]
	out_has '{"region":"add","kind":"block","device":3,"base":"0x5000","size":64,"t":4000}'
	run_sep bash -c "grep -v '\"region\"' $S/events.jsonl | hrr-regions del --base 0x5000 --at 7"
	[ "$(order <"$T/.out")" = 'h 1 2 3 4 5 6 del 7 8 9 e ' ]
	out_has '{"region":"del","device":0,"base":"0x5000","t":7000}'
	run_sep bash -c "grep -v '\"region\"' $S/events.jsonl | hrr-regions del --base 0x5000 --t 1d"
	[ "$(order <"$T/.out")" = '' ]
	status_is 2
	err_has '--t: not a time like 1500 or 1.5us: 1d'
	run_sep bash -c "grep -v '\"region\"' $S/events.jsonl | hrr-regions add --kind block --base 0x5000 --size 64K --t 4.5us"
	out_has '"base":"0x5000","size":65536,"t":4500}'
	run_sep bash -c "grep -v '\"region\"' $S/events.jsonl | hrr-regions del --base 0x5000 --t 1000000"
	[ "$(order <"$T/.out")" = 'h 1 2 3 4 5 6 7 8 9 del e ' ]
}

@test "regions add: the end record counts it, other lines stay as they are" {
	hrr-regions add --kind segment --base 0x5000 --size 64 --at 4 <$S/events.jsonl >got
	diff <(sed '$d' $S/events.jsonl) <(grep -v 0x5000 got | sed '$d')
	[ "$(jq -c 'select(.end) | [.end,.regions]' <got)" = '["complete",2]' ]
	run_sep hrr-cat -c got
	no_err
}

@test "regions add -a: makes and extends a sidecar on the stream's clock" {
	run_sep hrr-regions add -a $S --kind segment --base 0x5000 --size 64 --at 5
	status_is 0
	no_out
	no_err
	run_sep hrr-regions del -a $S --base 0x5000 --t 8500
	status_is 0
	[ "$(cat $S/regions/added.jsonl)" = '{"regions":1,"clock":"monotonic","resolution":1,"t0":"81234000000000","pid":4242}
{"region":"add","kind":"segment","device":0,"base":"0x5000","size":64,"t":5000}
{"region":"del","device":0,"base":"0x5000","t":8500}' ]
	[ -z "$(find small -name '.tmp*')" ]
	run_sep hrr-regions ls $S
	out_is 'segment 0 0x7f1000000000 4096 2500 9500 pool
segment 0 0x5000 64 5000 8500 -
block 0 0x7f0000000000 8 5600 - first half'
	run_sep hrr-regions add -a $S/events.jsonl -f mine --kind segment --base 0x9000 --size 1
	status_is 0
	[ -e $S/regions/mine.jsonl ]
}

@test "regions add -a: an archive of several processes needs --pid" {
	run_sep hrr-regions add -a small --kind segment --base 0x5000 --size 64
	status_is 2
	err_is 'hrr-regions: small: several processes in it: choose one with --pid'
	run_sep hrr-regions add -a small --pid 4250 --kind segment --base 0x5000 --size 64
	status_is 0
	[ -e small/pid-4250/regions/added.jsonl ]
	run_sep hrr-regions ls --pid 4250 small
	out_is 'segment 0 0x5000 64 - - -'
}

@test "regions add -a: a sidecar cut by a crash is mended, one on another clock is not touched" {
	hrr-regions add -a $S --kind segment --base 0x5000 --size 64
	printf '{"region":"a' >>$S/regions/added.jsonl
	run_sep hrr-regions add -a $S --kind segment --base 0x6000 --size 64
	status_is 0
	[ "$(wc -l <$S/regions/added.jsonl)" -eq 3 ]
	cp $S/regions/pool.jsonl before
	# The same clock, counted from elsewhere: 1000 ns earlier.
	run_sep hrr-regions add -a $S -f pool --kind segment --base 0x6000 --size 64 --t 5
	status_is 0
	[ "$(sed '$d' $S/regions/pool.jsonl)" = "$(cat before)" ]
	[ "$(tail -n 1 $S/regions/pool.jsonl)" = '{"region":"add","kind":"segment","device":0,"base":"0x6000","size":64,"t":1005}' ]
	run_sep hrr-regions ls $S
	out_has 'segment 0 0x6000 64 5 - -'
	sed '1s/81233999999000/81234000000900/' before >$S/regions/pool.jsonl
	run_sep hrr-regions add -a $S -f pool --kind segment --base 0x6000 --size 64 --t 5
	status_is 2
	err_is "hrr-regions: $S/regions: cannot extend pool.jsonl: its clock begins later"
	sed '1s/monotonic/realtime/' before >$S/regions/pool.jsonl
	cp $S/regions/pool.jsonl before
	run_sep hrr-regions add -a $S -f pool --kind segment --base 0x6000 --size 64 --t 5
	status_is 2
	err_is "hrr-regions: $S/regions: cannot extend pool.jsonl: its clock is not the stream's"
	cmp before $S/regions/pool.jsonl
}

@test "regions add: what is wrong in the command line is misuse" {
	misuse() {
		run_sep hrr-regions "$@"
		status_is 2
		no_out
		err_has '-h shows how it is used'
	}
	misuse
	misuse fly
	misuse add --kind segment --base 0x1
	misuse add --kind segment --size 1
	misuse add --base 0x1 --size 1
	misuse add --kind pool --base 0x1 --size 1
	misuse add --kind segment --base 5 --size 1
	misuse add --kind segment --base 0x1 --size 0
	misuse add --kind segment --base 0x1 --size 140737488355329
	misuse add --kind segment --base 0xffffffffffffffff --size 2
	misuse add --kind segment --base 0x1 --size 1 --device 65536
	misuse add --kind segment --base 0x1 --size 1 --t 1 --at 1
	misuse add --kind segment --base 0x1 --size x
	misuse add --kind segment --base 0x1 --size 1s
	misuse add --kind segment --base 0x1 --size 1 --t 1K
	misuse add -f ../x -a small --kind segment --base 0x1 --size 1
	misuse del --base 0x1
	misuse del --t 1
	misuse ls one two
	misuse add -a small --kind segment --base 0x1 --size 1 extra
	run_sep bash -c "hrr-regions del --base 0x1 --at 77 <$S/events.jsonl"
	status_is 2
	err_is 'hrr-regions: -: no call 77 in it'
	run_sep hrr-regions del --base 0x1 --at 77 -a $S
	status_is 2
	err_is "hrr-regions: $S: no call 77 in it"
}

@test "regions ls: lives, kinds, devices; a tag cannot steer a terminal" {
	{
		sed 1q $S/events.jsonl
		echo '{"region":"add","kind":"segment","base":"0x1000","size":4096}'
		echo '{"region":"add","kind":"block","base":"0x1000","size":16,"t":5,"tag":"\u001b[2J"}'
		echo '{"region":"del","base":"0x1000","t":6}'
		echo '{"region":"add","kind":"block","base":"0x1000","size":32,"t":7}'
		echo '{"region":"add","kind":"segment","base":"0x1000","size":8,"device":1,"t":8}'
	} >s
	run_sep hrr-regions ls s
	status_is 0
	out_is 'segment 0 0x1000 4096 - - -
block 0 0x1000 16 5 6 \x1b[2J
block 0 0x1000 32 7 - -
segment 1 0x1000 8 8 - -'
}

@test "regions check: finds what does not fit, exit 1; else 0" {
	run_sep hrr-regions check small
	status_is 0
	no_out
	{
		sed 1q $S/events.jsonl
		echo '{"region":"add","kind":"segment","base":"0x1000","size":4096}'
		echo '{"region":"add","kind":"segment","base":"0x1800","size":4096}'
		echo '{"region":"add","kind":"segment","base":"0x1000","size":64}'
		echo '{"region":"del","base":"0x7777"}'
		echo '{"region":"add","kind":"block","base":"0x9000","size":1}'
		echo '{"region":"add","kind":"block","base":"0x1030","size":64}'
		echo '{"seq":1,"t":1,"dur":1,"tid":1,"api":"hipMalloc","args":{"ptr":"0x50000","size":256}}'
		echo '{"region":"add","kind":"segment","base":"0x50000","size":1}'
		echo '{"region":"add","kind":"block","base":"0x50010","size":16}'
		echo '{"seq":2,"t":1,"dur":1,"tid":1,"api":"hipMalloc","args":{"ptr":"0x60000","size":256}}'
		echo '{"region":"add","kind":"block","base":"0x60010","size":16}'
		echo '{"seq":3,"t":1,"dur":1,"tid":1,"api":"hipFree","args":{"ptr":"0x60000"}}'
		echo '{"region":"add","kind":"block","base":"0x60020","size":16}'
		echo '{"region":"add","kind":"segment","base":"0x1","size":140737488355329}'
	} >s
	run_sep hrr-regions check s
	status_is 1
	out_is 's:3: add segment 0x1800 size 4096: overlaps a live region of its kind (0x1000 size 4096)
s:4: add segment 0x1000 size 64: replaces a live region at its base (0x1000 size 4096)
s:5: del region 0x7777: matches nothing live
s:6: add block 0x9000 size 1: lies in no live segment and no allocation of HIP
s:7: add block 0x1030 size 64: reaches past the end of what it lies in (0x1000 size 64)
s:9: add segment 0x50000 size 1: covers memory that HIP itself allocated
s:14: add block 0x60020 size 16: lies in no live segment and no allocation of HIP
s:15: bad region: "size" is not from 1 to 2^47 and inside the address space'
}

@test "regions: a sidecar's resolution says when what goes and comes within a tick acts" {
	rm $S/regions/*
	{
		echo '{"regions":1,"clock":"monotonic","resolution":1000,"t0":"81234000000000"}'
		echo '{"region":"add","kind":"segment","base":"0x1000","size":4096,"t":2000}'
		echo '{"region":"add","kind":"block","base":"0x1000","size":512,"t":2000}'
		echo '{"region":"add","kind":"block","base":"0x1200","size":512,"t":2000}'
		echo '{"region":"del","kind":"block","base":"0x1000","t":4000}'
		echo '{"region":"del","kind":"block","base":"0x1200","t":4000}'
		echo '{"region":"add","kind":"block","base":"0x1100","size":16,"t":4000}'
		echo '{"region":"del","base":"0x1100","t":6999}'
	} >$S/regions/micro.jsonl
	# Call 4, at 4000, may still use 0x1200; 0x1000 went before what took its place came.
	run_sep hrr-regions ls $S
	out_is 'segment 0 0x1000 4096 2000 - -
block 0 0x1000 512 2000 4000 -
block 0 0x1200 512 2000 4999 -
block 0 0x1100 16 4000 6999 -
block 0 0x7f0000000000 8 5600 - first half'
	run_sep hrr-regions explain 0x1210 --at 4 $S
	status_is 0
	out_has 'block 0x1200 + 512, since t 2000'
	run_sep hrr-regions explain 0x1210 --at 5 $S
	status_is 1
	run_sep bash -c "hrr-cat $S | sed -n '/0x1200/p'"
	out_has '{"region":"del","kind":"block","base":"0x1200","t":4999}'
	# A clock of nanoseconds has no ticks.
	sed -i 's/"resolution":1000/"resolution":1/' $S/regions/micro.jsonl
	run_sep hrr-regions ls $S
	out_has 'block 0 0x1200 512 2000 4000 -'
	local r
	for r in 0 1000000001 -1 '"1"' 1e3; do
		sed -i "1s/\"resolution\":[^,]*/\"resolution\":$r/" $S/regions/micro.jsonl
		run_sep hrr-regions ls $S
		status_is 2
		err_is "hrr-regions: $S/regions/micro.jsonl:1: bad sidecar: \"resolution\" is not from 1 to 1000000000 ns"
	done
}

@test "regions check: a clock that is not the stream's is found" {
	sed -i 's/81233999999000/1000/' $S/regions/pool.jsonl
	run_sep hrr-regions check $S
	status_is 1
	out_is "$S: most regions of a sidecar lie outside the stream: another clock"
}

@test "regions merge, clip: --pid is of an archive" {
	sidecar=$S/regions/some.jsonl
	mkdir -p $S/regions
	echo '{"regions":1,"clock":"monotonic","resolution":1,"t0":"1","pid":4242}' >$sidecar
	for how in merge 'clip --from 1'; do
		run_sep hrr-regions $how $sidecar
		status_is 0
		run_sep hrr-regions $how --pid 4242 $sidecar
		status_is 2
		err_has 'hrr-regions: --pid needs -a'
	done
}
