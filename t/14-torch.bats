# hrr-regions import --torch: PyTorch's memory snapshots.
# shellcheck disable=SC2086 # $S has no blanks
load helper

setup() {
	common_setup
	need_prog hrr-regions hrr-cat
	need_cmd jq
	D=$ROOT/t/data/torch
	# A run on the fixtures' clock: they start at 1795982130000000 us.
	cp -r "$ROOT/t/data/streams/small" small
	sed -i '1s/"realtime":"[0-9]*"/"realtime":"1795982130000000000"/; s/"t":9900/"t":90000/' small/pid-4242/events.jsonl
	S=small/pid-4242
}

@test "regions import: a snapshot becomes a sidecar with a clock of its own" {
	run_sep hrr-regions import --torch "$D/tick.pickle"
	status_is 0
	no_err
	out_is '{"regions":1,"clock":"realtime","resolution":1000,"t0":"1795982130000005000"}
{"region":"add","kind":"segment","device":0,"base":"0x1000","size":4096,"t":0}
{"region":"add","kind":"block","device":0,"base":"0x1000","size":512,"t":0}
{"region":"add","kind":"block","device":0,"base":"0x1200","size":512,"t":0}
{"region":"del","kind":"block","device":0,"base":"0x1000","t":2000}
{"region":"add","kind":"block","device":0,"base":"0x1000","size":512,"t":2000}
{"region":"add","kind":"block","device":0,"base":"0x1400","size":512,"t":2000}
{"region":"del","kind":"block","device":0,"base":"0x1200","t":2999}'
}

@test "regions import: every line is JSON, for every protocol" {
	for f in plain before two grows grows2; do
		run_sep hrr-regions import --torch "$D/$f.pickle"
		status_is 0
		no_err
		jq -c . "$T/.out" | cmp - "$T/.out"
	done
}

@test "regions import: into an archive, on its clock; check finds nothing" {
	for f in plain before two grows grows2; do
		run_sep hrr-regions import --torch "$D/$f.pickle" -a $S
		status_is 0
		no_out
		no_err
		[ "$(head -n 1 $S/regions/torch.jsonl)" = '{"regions":1,"clock":"monotonic","resolution":1000,"t0":"81234000000000","pid":4242}' ]
		run_sep hrr-regions check $S
		status_is 0
		no_out
	done
	# The same, moved from its own clock by the reader.
	hrr-regions ls $S >first
	hrr-regions import --torch "$D/grows2.pickle" >$S/regions/torch.jsonl
	hrr-regions ls $S | diff first -
	run_sep hrr-regions import --torch "$D/plain.pickle" -a $S -f other
	status_is 0
	[ -e $S/regions/other.jsonl ]
}

@test "regions import: the sidecar acts where the history says" {
	hrr-regions import --torch "$D/tick.pickle" -a $S
	hrr-cat $S | jq -c 'select(.seq or .region) | [.seq // .region, .base, .t]' | grep -v 0x7f | tr '\n' ' ' >got
	# Calls at 5000 and 7000: the adds of 5 us stand before, and so do those of 7 us.
	[ "$(cat got)" = '[1,null,1000] [2,null,2000] [3,null,3000] [4,null,4000] ["add","0x1000",5000] ["add","0x1000",5000] ["add","0x1200",5000] [5,null,5000] [6,null,6000] ["del","0x1000",7000] ["add","0x1000",7000] ["add","0x1400",7000] [7,null,7000] ["del","0x1200",7999] [8,null,8000] [9,null,9000] ' ] || {
		cat got
		false
	}
}

@test "regions import: frames become tags on request" {
	run_sep hrr-regions import --torch "$D/frames.pickle" --frames 2
	status_is 0
	out_has '"tag":"forwärd net.py:7 < main main.py:1"}'
	run_sep hrr-regions import --torch "$D/frames.pickle"
	out_lacks tag
	run_sep hrr-regions import --torch "$D/frames.pickle" --frames 17
	status_is 2
	err_has '--frames: above 16: 17'
}

@test "regions import: what does not fit is said" {
	run_sep hrr-regions import --torch "$D/odd.pickle"
	status_is 0
	err_is "hrr-regions: $D/odd.pickle: warning: 1 events of a kind not known left out (fly)
hrr-regions: $D/odd.pickle: warning: 1 events stamped before their predecessor
hrr-regions: $D/odd.pickle: warning: its history does not fit: 1 events without match, 1 addresses left otherwise than it says"
	sed -i '1s/"realtime":"[0-9]*"/"realtime":"1764454000000000000"/' $S/events.jsonl
	run_sep hrr-regions import --torch "$D/tick.pickle" -a $S
	status_is 2
	err_is "hrr-regions: $D/tick.pickle: the history runs more than 2^53 ns past the stream's begin: it is not of this run"
	[ ! -e $S/regions/torch.jsonl ]
	sed -i '1s/"realtime":"[0-9]*"/"realtime":"1795982129000000000"/' $S/events.jsonl
	run_sep hrr-regions import --torch "$D/tick.pickle" -a $S
	status_is 0
	err_is "hrr-regions: $D/tick.pickle: warning: its clock is hardly the stream's: of what it says 0 changes are before and 7 after"
}

@test "regions import: files that are no snapshot are refused, nothing is run" {
	run_sep hrr-regions import --torch "$D/object.pickle"
	status_is 2
	no_out
	err_is "hrr-regions: $D/object.pickle: pickle refused: opcode STACK_GLOBAL at byte 49 has no place in a file of data"
	printf '\200\002cos\nsystem\n(X\014\000\000\000touch pwned0tR.' >evil
	run_sep hrr-regions import --torch evil
	status_is 2
	err_is 'hrr-regions: evil: pickle refused: opcode GLOBAL at byte 2 has no place in a file of data'
	[ ! -e pwned0 ]
	for f in bytes old past47 twice; do
		run_sep hrr-regions import --torch "$D/$f.pickle"
		status_is 2
		no_out
	done
	run_sep hrr-regions import --torch nothing
	status_is 2
	err_is 'hrr-regions: nothing: cannot read: No such file or directory'
	run_sep hrr-regions import
	status_is 2
	err_has 'import takes --torch FILE'
	run_sep hrr-regions import --torch "$D/tick.pickle" -a nowhere
	status_is 2
	run_sep hrr-regions import --torch "$D/tick.pickle" -a small
	status_is 2
	err_has 'several processes in it: choose one with --pid'
	run_sep hrr-regions import --torch "$D/tick.pickle" -a small --pid 4242
	status_is 0
	[ -e $S/regions/torch.jsonl ]
	run_sep bash -c "hrr-regions import --torch $D/tick.pickle >/dev/full"
	status_is 2
}

@test "regions import: what PyTorch itself wrote" {
	P=$ROOT/../shared/data/torch
	[ -d "$P" ] || skip 'no ../shared/data/torch here'
	for f in small train expandable train-p2; do
		run_sep hrr-regions import --torch "$P/$f.pickle"
		status_is 0
		no_err
		cp "$T/.out" side
		# Live at the end is what the snapshot says is live.
		jq -s -c '[.[] | select(.region)] | group_by([.kind, .base])[] | .[-1] | select(.region == "add") | [.kind, .base, .size]' side | sort >live
		[ "$(grep -c block live)" = "$(case $f in small) echo 12 ;; train*) echo 88 ;; *) echo 16 ;; esac)" ]
		[ "$(grep -c segment live)" = "$(case $f in small) echo 4 ;; train*) echo 7 ;; *) echo 1 ;; esac)" ]
	done
	# One dump, two protocols (p2 has a shorter ring): the same blocks at the end.
	hrr-regions import --torch "$P/train.pickle" >a
	hrr-regions import --torch "$P/train-p2.pickle" >b
	for f in a b; do
		jq -s -c '[.[] | select(.region)] | group_by([.kind, .base])[] | .[-1] | select(.region == "add") | [.kind, .base, .size]' $f | sort >$f.live
	done
	diff a.live b.live
}
