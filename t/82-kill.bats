# What is left when something is killed: the recorded program, or hrr-capture.
load helper

setup_file() {
	build_stub
}

setup() {
	common_setup
	need_prog hrr-capture
}

events() { cat "$1"/pid-*/events.jsonl; }

# kill_once ARCHIVE LOG CAPTURE-PID SECONDS: kills the program SECONDS after its first logged call.
kill_once() {
	local pid='*'
	until [ -s "$2" ] && [ "$pid" != '*' ]; do
		kill -0 "$3" || return 1
		sleep 0.02
		pid=$(echo "$1"/pid-*)
		pid=${pid##*pid-}
	done
	sleep "$4"
	kill -9 "$pid"
}

@test "kill: the program at 50 random moments: every call that returned is in the archive" {
	need_emu
	need_apps killme
	local i calls=0 said
	for i in $(seq "${HRR_T_KILLS:-50}"); do
		rm -rf a.hrr log
		HRR_T_LOG=$T/log timeout 100 hrr-capture -q -d emu -o a.hrr -- "$APPS/killme" &
		kill_once a.hrr log $! "0.$((RANDOM % 10))$((RANDOM % 10))"
		status=0
		wait $! || status=$?
		[ "$status" -eq 137 ]
		said=$(awk -f "$ROOT/t/killcheck.awk" log a.hrr/pid-*/events.jsonl) || {
			echo "kill $i: $said"
			return 1
		}
		calls=$((calls + ${said%% *}))
		[ "$(events a.hrr | tail -1 | jq -r .end)" = cut ]
		[ ! -e a.hrr/.recording ]
	done
	[ "$calls" -gt 500 ]
}

# copies_are_there ARCHIVE: each copy of log.0 to log.3 ("N DST") is in the archive, in its thread's
# order, with its size, kind, direction and bytes (64 times N + thread, then zeros). Sets $returned.
copies_are_there() {
	local t dst n size=${HRR_T_PAYLOAD:-1000000}
	events "$1" | jq -r 'select(.dir=="h2d" and .ret==null)|
		[.args.dst,.args.sizeBytes,.args.kind,.blobs.src//"none"]|@tsv' >copies
	returned=0
	for t in 0 1 2 3; do
		[ -s log.$t ] || continue # killed before this thread's first call
		n=$(wc -l <log.$t)
		returned=$((returned + n))
		dst=$(head -1 log.$t | cut -d' ' -f2)
		grep -F "$dst	" copies >mine || true
		[ "$(wc -l <mine)" -ge "$n" ] || {
			echo "thread $t: $n returned, $(wc -l <mine) recorded"
			return 1
		}
		[ "$(cut -f2,3 mine | sort -u)" = "$size	hipMemcpyHostToDevice" ] || {
			echo "thread $t: other arguments"
			return 1
		}
		cut -f4 mine | sed "s,xxh128:\\(..\\),$1/blobs/\\1/\\1," | xargs head -qc 64 | xxd -p -c 64 >bytes
		awk -v t=$t '{ s = sprintf("%02x", (NR - 1 + t) % 256); b = ""
			while (length(b) < 128) b = b s; print b }' mine >due
		cmp bytes due || {
			echo "thread $t: other bytes"
			return 1
		}
	done
	hrr-cat --verify "$1" >verified || true # the stream may be cut
	grep ' 0 missing, 0 damaged, 0 orphaned, 0 records broken' verified
}

@test "kill: four threads with big payloads: nothing that returned is lost" {
	local i all=0
	need_prog hrr-cat
	export LD_LIBRARY_PATH=$STUB
	for i in $(seq "${HRR_T_KILLS:-20}"); do
		rm -rf a.hrr log.*
		CALLS_LOG=$T/log timeout 100 hrr-capture -q --min-free 1M -o a.hrr -- \
			"$STUB/calls" logged 100000 "${HRR_T_PAYLOAD:-1000000}" &
		kill_once a.hrr log.3 $! "0.$((RANDOM % 2))$((RANDOM % 10))$((RANDOM % 10))"
		status=0
		wait $! || status=$?
		[ "$status" -eq 137 ]
		copies_are_there a.hrr || {
			echo "kill $i"
			return 1
		}
		all=$((all + returned))
	done
	[ "$all" -gt "$i" ]
	[ -z "${HRR_T_KILLS:-}" ] || echo "# $i kills, $all copies returned before them, all recorded" >&3
}

@test "kill: hrr-capture at random moments: the program ends well, --recover has all its copies" {
	local i c
	need_prog hrr-cat
	export LD_LIBRARY_PATH=$STUB CALLS_LOG=$T/log
	for i in $(seq "${HRR_T_KILLS:-10}"); do
		rm -rf a.hrr log.* code
		hrr-capture -q --min-free 1M --arena-size 8M -o a.hrr -- \
			sh -c "'$STUB/calls' logged 30 1000000; echo \$? >code.part; mv code.part code" &
		c=$!
		while [ ! -s log.$((RANDOM % 4)) ] && kill -0 $c 2>/dev/null; do sleep 0.01; done
		sleep "0.0$((RANDOM % 10))$((RANDOM % 10))"
		kill -9 $c || true
		wait $c || true
		while [ ! -e code ]; do sleep 0.02; done
		[ "$(cat code)" = 0 ]
		[ ! -e a.hrr/.recording ] || hrr-capture -q --recover a.hrr
		HRR_T_PAYLOAD=1000000 copies_are_there a.hrr || {
			echo "kill $i"
			return 1
		}
		[ "$returned" -eq 120 ]
		[ "$(events a.hrr | tail -1 | jq -c '[.end,.calls]')" = '["complete",124]' ]
		[ ! -e a.hrr/.recording ]
	done
}

# has_calls DIR N: waits until there are so many in its streams.
has_calls() {
	until [ "$(cat "$1"/pid-*/events.jsonl 2>/dev/null | grep -c '"seq"')" -ge "$2" ]; do sleep 0.02; done
}

# has_ended DIR: waits until its program has, though nobody may have asked how.
has_ended() {
	local p
	p=$(echo "$1"/pid-*)
	while grep -q '^State:.[RSDT]' "/proc/${p##*/pid-}/status" 2>/dev/null; do sleep 0.02; done
}

# recorder_killed MODE N: hrr-capture of that many calls into a.hrr is killed when some are there; the
# program runs on, and its exit code will be in the file code.
recorder_killed() {
	hrr-capture -q -o a.hrr -- sh -c "'$STUB/calls' $1 $2; echo \$? >code" &
	pid=$!
	has_calls a.hrr 20
	kill -9 $pid
	wait $pid || true
}

@test "kill: hrr-capture: the program runs on, --recover finishes the archive" {
	export LD_LIBRARY_PATH=$STUB
	recorder_killed paced 300
	n=$(events a.hrr | grep -c '"seq"')
	[ "$n" -gt 0 ]
	[ "$(jq -r .state a.hrr/manifest.json)" = running ]
	until [ -e code ]; do sleep 0.05; done
	[ "$(cat code)" = 0 ]
	run_sep hrr-capture --recover a.hrr
	status_is 0
	[ "$(events a.hrr | jq -R -c 'fromjson|type' | sort -u)" = '"object"' ]
	events a.hrr | jq -r 'select(.seq).seq' | awk '$1 != NR { bad = 1 } END { exit bad }'
	[ "$n" -lt 300 ]
	[ "$(events a.hrr | tail -1 | jq -c '[.end,.calls]')" = '["complete",300]' ]
	[ "$(jq -r .state a.hrr/manifest.json)" = complete ]
	[ ! -e a.hrr/.recording ]
	run_sep hrr-capture --recover a.hrr
	status_is 125
	err_has "nothing to recover"
}

@test "kill: hrr-capture: --recover while the program runs, and again, and when it has ended" {
	export LD_LIBRARY_PATH=$STUB
	recorder_killed pinned_paced 600
	for i in 1 2; do
		run_sep hrr-capture --recover a.hrr
		status_is 0
		[ ! -e code ]
		[ "$(events a.hrr | tail -1 | jq -r .end)" = cut ]
		events a.hrr >"after$i"
		run_sep hrr-cat a.hrr
		err_lacks bad
	done
	# The time of the end is another.
	diff <(head -n -1 after1) <(head -n -1 after2)
	until [ -e code ]; do sleep 0.05; done
	[ "$(cat code)" = 0 ]
	run_sep hrr-capture --recover a.hrr
	status_is 0
	[ ! -e a.hrr/.recording ]
	[ "$(events a.hrr | jq -c "select(.output)|.unknown")" = \
		'"the program ended before it waited"' ]
	run_sep hrr-cat a.hrr
	err_has "cut short"
	err_lacks bad
	# As at the first: what came after that was not recorded.
	[ "$(events a.hrr | tail -1 | jq -c '[.end,.calls,.outputs]')" = \
		"$(tail -1 after1 | jq -c '[.end,.calls,.outputs]')" ]
}

@test "kill: hrr-capture: nobody who asked how it ended, or its number given away: it does not run" {
	export LD_LIBRARY_PATH=$STUB
	sh -c "hrr-capture -q -o a.hrr -- '$STUB/calls' paced 30 & echo \$! >pid; exec sleep 20" 3>&- &
	parent=$!
	has_calls a.hrr 1
	kill -9 "$(cat pid)"
	until grep -q '^State:.Z' "/proc/$(cat pid)/status"; do sleep 0.05; done
	run_sep hrr-cat a.hrr
	err_has "cut short"
	has_ended a.hrr
	cp -r a.hrr b.hrr
	run_sep hrr-capture --recover a.hrr
	status_is 0
	[ "$(events a.hrr | tail -1 | jq -c '[.end,.calls]')" = '["complete",30]' ]
	kill $parent
	jq -c ".writer = $$" b.hrr/manifest.json >m
	mv m b.hrr/manifest.json
	run_sep hrr-capture --recover b.hrr
	status_is 0
}

@test "kill: hrr-capture: a program that fills its ring runs on unrecorded, and the archive says so" {
	export LD_LIBRARY_PATH=$STUB
	hrr-capture -q --ring-size 64K -o a.hrr -- sh -c "'$STUB/calls' small 30000000; echo \$? >code" &
	pid=$!
	has_calls a.hrr 1
	kill -9 $pid
	wait $pid || true
	until [ -e code ]; do sleep 0.05; done
	[ "$(cat code)" = 0 ]
	run_sep hrr-capture --recover a.hrr
	status_is 0
	[ "$(jq -r .state a.hrr/manifest.json)" = cut ]
	[ "$(events a.hrr | tail -1 | jq -r .end)" = cut ]
	n=$(events a.hrr | tail -1 | jq .calls)
	[ "$n" -lt 30000000 ]
	[ "$(events a.hrr | grep -c '^{"seq":')" -eq "$n" ]
	[ "$(events a.hrr | tail -2 | head -1 | jq .seq)" -eq "$n" ]
}

@test "kill: hrr-capture and the program: --recover has every call that returned" {
	need_emu
	need_apps killme
	local i said
	for i in 1 2 3 4 5; do
		rm -rf a.hrr log
		HRR_T_LOG=$T/log hrr-capture -q -d emu -o a.hrr -- "$APPS/killme" &
		pid=$!
		kill_once a.hrr log $pid "0.$((RANDOM % 5))$((RANDOM % 10))" &
		wait $! || true
		kill -9 $pid || true
		wait $pid || true
		run_sep hrr-capture --recover a.hrr
		if [ -e a.hrr/.recording ] || [ "$status" -eq 0 ]; then
			said=$(awk -f "$ROOT/t/killcheck.awk" log a.hrr/pid-*/events.jsonl) || {
				echo "$said"
				return 1
			}
		fi
	done
}

# --- no room ----------------------------------------------------------------

# small_fs SIZE: a file system of its own in $T/small (needs the right to mount).
small_fs() {
	mkdir -p small
	mount -t tmpfs -o "size=$1" tmpfs small 2>/dev/null || skip "mounting is not allowed here"
}

teardown() {
	umount "$T/small" 2>/dev/null || true
}

@test "kill: a file of .recording cut short by somebody: said, 125, and only what was right is there" {
	local lib=$STUB f
	for f in hub p0.ctl p0.r0 p0.a; do
		LD_LIBRARY_PATH=$lib hrr-capture -q -o "$f.hrr" -- "$STUB/calls" copies 3000 200000 2>"$f.err" &
		pid=$!
		# In the midst of it.
		until [ "$(cat "$f.hrr"/pid-*/events.jsonl 2>/dev/null | grep -c hipMemcpy)" -gt 20 ]; do sleep 0.02; done
		truncate -s 0 "$f.hrr/.recording/$f"
		code=0
		wait $pid || code=$?
		[ "$code" -eq 125 ]
		grep -q -e "cut short a file in .*$f.hrr/.recording" -e "Bad address" "$f.err"
		[ "$(jq -r .state "$f.hrr/manifest.json")" = cut ]
		[ "$(events "$f.hrr" | jq -R -c 'fromjson|type' | sort -u)" = '"object"' ]
		[ "$(events "$f.hrr" | tail -1 | jq -r .end)" = cut ]
		# Each copy moves other bytes than the one before it, which come back as they went.
		events "$f.hrr" | jq -r '.blobs.src//.blob//empty' | awk '
			NR % 2 { if ($0 == last) bad = 1; last = $0; next }
			$0 != last { bad = 1 }
			END { exit bad }'
	done
}

@test "full: events: the program runs on, exit 125, only whole lines, counts that fit" {
	small_fs 3m
	export LD_LIBRARY_PATH=$STUB
	run_sep hrr-capture --min-free 0 -o small/a.hrr -- sh -c "'$STUB/calls' small 200000; echo \$? >code"
	status_is 125
	[ "$(cat code)" = 0 ]
	err_has "cannot write events: No space left on device"
	[ "$(tail -c 1 small/a.hrr/pid-*/events.jsonl | xxd -p)" = 0a ]
	[ "$(events small/a.hrr | jq -R -c 'fromjson|type' | sort -u)" = '"object"' ]
	[ "$(events small/a.hrr | tail -1 | jq -r .end)" = cut ]
	[ "$(events small/a.hrr | tail -1 | jq .calls)" -eq "$(events small/a.hrr | grep -c '^{"seq":')" ]
	[ "$(jq -r .state small/a.hrr/manifest.json)" = cut ]
}

@test "full: payloads: what could not be kept is counted, and its output unknown" {
	small_fs 3m
	export LD_LIBRARY_PATH=$STUB
	run_sep hrr-capture --min-free 0 -o small/a.hrr -- "$STUB/calls" copies 20 300000
	err_like 'lost: [1-9][0-9]* records, [1-9][0-9]* bytes'
	[ "$(events small/a.hrr | tail -1 | jq -r .end)" = cut ]
	[ "$(events small/a.hrr | tail -1 | jq .lost)" -gt 0 ]
	run_sep hrr-capture --strict --min-free 0 -o small/b.hrr -- "$STUB/calls" copies 20 300000
	status_is 125
}

@test "full: no room for a ring: the thread is not recorded, each call counted" {
	small_fs 3m
	export LD_LIBRARY_PATH=$STUB
	run_sep hrr-capture --min-free 0 --ring-size 16M -o small/a.hrr -- "$STUB/calls" small 100
	status_is 0
	err_has "lost: 100 records"
	[ "$(events small/a.hrr | tail -1 | jq -c '[.end,.calls,.lost]')" = '["cut",0,100]' ]
}

@test "full: --min-free stops the recording before" {
	small_fs 3m
	export LD_LIBRARY_PATH=$STUB
	run_sep hrr-capture --min-free 10M -o small/a.hrr -- "$STUB/calls" paced 200
	status_is 0
	err_has "recording stopped, the program runs on: the file system has no more room to spare"
	[ "$(events small/a.hrr | tail -1 | jq -r .end)" = cut ]
}
