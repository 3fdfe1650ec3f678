# hrr-capture of programs that end threads inside calls, jump out of them, close what they have,
# fork beside other threads: they run as without it, and what is in the archive is so.
load helper

setup_file() {
	build_stub
	${CC:-cc} -std=gnu11 -O1 -I"$BUILD/gen" -o "$STUB/odd" "$ROOT/t/stub/odd.c" \
		"$STUB/libamdhip64.so.5" -lpthread
}

setup() {
	common_setup
	need_prog hrr-capture
	export LD_LIBRARY_PATH=$STUB
}

# The one process's calls, "NAME" or "NAME:RET", and how it ended.
told() { jq -r 'select(.api)|.api+(if .ret then ":\(.ret)" else "" end)' "$1"/pid-*/events.jsonl; }
ended() { jq -c 'select(.end)|[.end,.calls,.lost]' "$1"/pid-*/events.jsonl; }

@test "odd: a thread that is to be cancelled is not cancelled by being recorded" {
	for i in 1 2 3 4 5; do
		run_sep hrr-capture -q --arena-size $((i % 2))M --ring-size 64K -o "a$i.hrr" -- "$STUB/odd" cancelled
		status_is 0
		[ "$(ended "a$i.hrr")" = '["complete",3007,0]' ]
	done
}

@test "odd: calls of a cancelled thread's clean-up are recorded, and the call it was in" {
	STUB_HANG=1 run_sep hrr-capture -q -o a.hrr -- "$STUB/odd" cleanup
	status_is 0
	[ "$(told a.hrr | tr '\n' ' ')" = "hipStreamCreate hipStreamSynchronize:none hipGetDevice hipGetDevice hipGetDevice hipGetDevice " ]
	[ "$(ended a.hrr)" = '["complete",6,0]' ]
}

@test "odd: calls after a jump out of one are recorded, and the one that was left" {
	STUB_HANG=1 run_sep hrr-capture -q -o a.hrr -- "$STUB/odd" left
	status_is 0
	[ "$(told a.hrr | tr '\n' ' ')" = "hipStreamCreate hipStreamSynchronize:none hipGetDevice hipGetDevice hipGetDevice " ]
	[ "$(ended a.hrr)" = '["complete",5,0]' ]
	STUB_HANG=1 run_sep hrr-capture -q -o b.hrr -- "$STUB/odd" left_free
	status_is 0
	[ "$(told b.hrr | tr '\n' ' ')" = "hipStreamCreate hipHostFree:none hipGetDevice hipGetDevice hipGetDevice " ]
	[ "$(ended b.hrr)" = '["complete",5,0]' ]
	STUB_HANG=1 run_sep hrr-capture -q -o c.hrr -- "$STUB/odd" left_last
	status_is 0
	[ "$(told c.hrr | tr '\n' ' ')" = "hipStreamCreate hipStreamSynchronize:none " ]
}

@test "odd: calls after a jump out of one are recorded where nothing has come over it" {
	${CC:-cc} -std=gnu11 -O1 -I"$BUILD/gen" -o odd "$ROOT/t/stub/odd.c" -lpthread \
		"$STUB/libamdhip64.so.5" -Wl,--no-as-needed -lgcc_s
	STUB_HANG=1 run_sep hrr-capture -q -o a.hrr -- ./odd left_deep
	status_is 0
	[ "$(told a.hrr | tr '\n' ' ')" = "hipStreamCreate hipStreamSynchronize:none hipGetDevice hipGetDevice " ]
	[ "$(ended a.hrr)" = '["complete",4,0]' ]
}

@test "odd: calls of the run time within a call are not recorded, with an unwinder as without" {
	local lib
	lib=$(${CC:-cc} -print-file-name=libgcc_s.so.1)
	run_sep hrr-capture -q -o a.hrr -- "$STUB/calls" pinned 2
	status_is 0
	LD_PRELOAD=$lib run_sep hrr-capture -q -o b.hrr -- "$STUB/calls" pinned 2
	status_is 0
	told a.hrr | grep -qx hipMemcpyAsync # which calls hipMemcpy
	[ "$(told a.hrr)" = "$(told b.hrr)" ]
}

@test "odd: calls of a signal handler inside a call are counted" {
	local lib
	for lib in "" "$(${CC:-cc} -print-file-name=libgcc_s.so.1)"; do
		rm -rf a.hrr
		LD_PRELOAD=$lib STUB_HANG=1 run_sep hrr-capture -o a.hrr -- "$STUB/odd" handler
		status_is 0
		[ "$(told a.hrr | tr '\n' ' ')" = "hipStreamCreate hipStreamSynchronize " ]
		[ "$(jq -c 'select(.end)|[.end,.notRecorded]' a.hrr/pid-*/events.jsonl)" = '["complete",{"hipGetDevice":2}]' ]
		err_has "2 calls are not recorded: see the end record"
	done
	run_sep hrr-capture -q -o b.hrr -- "$STUB/odd" handlers 3000000
	status_is 0
	[ "$(jq -c 'select(.end)|[.end,.lost,.calls+(.notRecorded|add//0)]' b.hrr/pid-*/events.jsonl)" = \
		"[\"complete\",0,$out]" ]
}

@test "odd: what is started with another LD_PRELOAD, or none, is recorded, with what that preloads" {
	[ -z "${HRR_T_ASAN:-}" ] || skip "the sanitizer's run time is preloaded too"
	printf '%s\n' '#include <unistd.h>' \
		'__attribute__((constructor)) static void loaded(void) { (void)!write(1, "loaded\n", 7); }' >mine.c
	${CC:-cc} -shared -fPIC -o mine.so mine.c
	local how n=0
	for how in "env LD_PRELOAD=$T/mine.so '$STUB/odd' one" "LD_PRELOAD=$T/mine.so '$STUB/odd' one" \
		"export LD_PRELOAD=$T/mine.so; '$STUB/odd' one"; do
		run_sep hrr-capture -q -o $((++n)).hrr -- sh -c "$how"
		status_is 0
		[ "$(ended $n.hrr)" = '["complete",1,0]' ] || saw "$how"
		out_is loaded
	done
	for how in "env -u LD_PRELOAD '$STUB/odd' one" "LD_PRELOAD= '$STUB/odd' one" "unset LD_PRELOAD; exec '$STUB/odd' one"; do
		run_sep hrr-capture -q -o $((++n)).hrr -- sh -c "$how"
		status_is 0
		[ "$(ended $n.hrr)" = '["complete",1,0]' ] || saw "$how"
	done
	run_sep hrr-capture -q -o spawn.hrr -- "$STUB/odd" spawn
	status_is 0
	[ "$(ended spawn.hrr | tr '\n' ' ')" = '["complete",1,0] ["complete",1,0] ' ]
	# Who takes more away does not want to be recorded.
	run_sep hrr-capture -q -o none.hrr -- env -u LD_PRELOAD -u HRR_CAPTURE_DIR sh -c "env; '$STUB/odd' one"
	status_is 0
	[ ! -e none.hrr ]
	out_lacks LD_PRELOAD
}

@test "odd: --drop: a call that began and whose return had no room is lost, not one that never returned" {
	local pad
	for pad in 64K 128K; do
		run_sep hrr-capture -q --drop --ring-size $pad -o $pad.hrr -- "$STUB/odd" drops
		status_is 0
		[ "$(told $pad.hrr | sort -u)" = hipStreamSynchronize ]
		[ "$(jq -c 'select(.end)|[.end,.calls+.lost]' $pad.hrr/pid-*/events.jsonl)" = '["complete",3000]' ]
	done
}

@test "odd: a process with another root folder is recorded, and its children; one of another user as far as that goes" {
	[ "$(id -u)" = 0 ] || skip "needs to be root"
	mkdir root
	run_sep hrr-capture -q --arena-size 1M -o a.hrr -- "$STUB/odd" away root "$T/root"
	status_is 0
	[ "$(ended a.hrr | sort | tr '\n' ' ')" = '["complete",1,0] ["complete",9,0] ' ]
	[ "$(cat a.hrr/pid-*/events.jsonl | jq -r '.blobs.src//empty' | wc -l)" -eq 4 ]
	[ ! -e a.hrr/.recording ]
	run_sep hrr-capture -q -o b.hrr -- sh -c "exec 3</dev/null; '$STUB/odd' away root '$T/root'"
	[ "$(ended b.hrr | sort | tr '\n' ' ')" = '["complete",1,0] ["complete",9,0] ' ]
	# Files are what a thread begins with; the child would need one for itself.
	run_sep hrr-capture -o c.hrr -- "$STUB/odd" away user
	status_is 0
	[ "$(ended c.hrr)" = '["cut",5,2]' ]
	[ "$(cat c.hrr/pid-*/events.jsonl | jq -r '.blobs.src//empty' | wc -l)" -eq 3 ]
	err_has "lost: 2 records, 0 bytes"
	err_has "lost: a process is not recorded: no descriptor, memory, room or right was left for it"
	run_sep hrr-capture -q -o f.hrr -- "$STUB/odd" away daemon
	status_is 0
	[ "$(ended f.hrr)" = '["cut",5,2]' ]
	run_sep hrr-capture -q -o e.hrr -- "$STUB/odd" away vforked
	status_is 0
	[ "$(ended e.hrr | sort | tr '\n' ' ')" = '["complete",1,0] ["complete",7,0] ' ]
	run_sep hrr-capture -q --strict -o d.hrr -- "$STUB/odd" away user
	status_is 125
}

@test "odd: rings of threads that ended serve those that begin, however many" {
	run_sep hrr-capture -q --ring-size 64K -o a.hrr -- "$STUB/odd" bursts 3
	status_is 0
	[ "$(ended a.hrr)" = '["complete",900,0]' ]
	[ "$out" -le 301 ] || saw "more rings than there were threads at once"
}

@test "odd: a process that ends or becomes another by itself is complete" {
	local how
	for how in exit _exit _Exit quick_exit execve execv execvp execvpe execl execlp execle \
		fexecve execveat later daemon; do
		run_sep hrr-capture -o $how.hrr -- "$STUB/odd" ends $how
		status_is 0
		[ "$(ended $how.hrr)" = '["complete",1,0]' ] || saw "$how"
		[ "$(jq -r .state $how.hrr/manifest.json)" = complete ]
		err_lacks order
	done
	run_sep hrr-capture -q -o becomes.hrr -- "$STUB/odd" becomes
	status_is 137
	[ "$(ended becomes.hrr)" = '["complete",1,0]' ]
	run_sep hrr-capture -q -o again.hrr -- "$STUB/odd" ends again
	status_is 0
	[ "$(ended again.hrr | tr '\n' ' ')" = '["complete",1,0] ["complete",1,0] ' ]
}

@test "odd: a process other than the command that is killed is cut, and told of" {
	local how
	for how in killed abort no_exec vforked; do
		run_sep hrr-capture -o $how.hrr -- "$STUB/odd" ends $how
		status_is 0
		[ "$(ended $how.hrr)" = '["cut",1,0]' ] || saw "$how"
		[ "$(jq -r .state $how.hrr/manifest.json)" = cut ]
		err_like "process $(jq -r 'select(.hrr).pid' $how.hrr/pid-*/events.jsonl) did not end in order: its stream is cut"
	done
	run_sep hrr-capture -o two.hrr -- sh -c "'$STUB/odd' ends killed; '$STUB/odd' ends killed"
	err_like '2 processes \([0-9]+ and others\) did not end in order: their streams are cut'
	run_sep hrr-capture -q -o - -b b -- "$STUB/odd" ends killed
	status_is 0
	no_err
	[ "$(jq -r 'select(.end).end' "$T/.out")" = cut ]
}

@test "odd: what a program prints into closed descriptors gets into no file of ours" {
	for i in 1 2 3; do
		run_sep hrr-capture -q --arena-size 0 --ring-size 64K -o "a$i.hrr" -- "$STUB/odd" closed
		status_is 0
		[ "$(ended "a$i.hrr")" = '["complete",341,0]' ]
		[ "$(jq -r '.blobs.src//empty' "a$i.hrr"/pid-*/events.jsonl | sort -u | wc -l)" -eq 1 ]
	done
}

@test "odd: a child of a process with threads in the midst of calls makes its own" {
	run_sep hrr-capture -q --ring-size 64K -o a.hrr -- "$STUB/odd" forks 200
	status_is 0
	[ "$(find a.hrr -maxdepth 1 -name 'pid-*' | wc -l)" -eq 201 ]
	[ "$(cat a.hrr/pid-*/events.jsonl | jq -c 'select(.end)|.end' | sort -u)" = '"complete"' ]
}

@test "odd: a daemon that has made no HIP call when all others have ended is told of" {
	run_sep hrr-capture -o a.hrr -- "$STUB/odd" late
	status_is 0
	err_like 'process [0-9]+ runs on: HIP calls it makes from here on are not recorded'
	# What has no HIP is no matter; neither is what belongs to another recording.
	run_sep hrr-capture -o b.hrr -- sh -c "sleep 1 & '$STUB/calls' small 1"
	status_is 0
	err_lacks 'runs on'
}

@test "odd: more processes at once than hrr-capture may have descriptors, when it may have more" {
	# shellcheck disable=SC2016
	run_sep sh -c 'ulimit -Sn 50; ulimit -Hn 4096; exec hrr-capture -q -o a.hrr -- sh -c "
		ulimit -Sn
		for i in \$(seq 40); do \"$STUB/calls\" paced 100 & done
		wait"'
	status_is 0
	out_is 50
	[ "$(ended a.hrr | sort | uniq -c | tr -s ' ')" = ' 40 ["complete",100,0]' ]
}

@test "odd: who runs on from a recording is not in the next one of that name" {
	run_sep hrr-capture -q -o a.hrr -- sh -c "(until [ -e go ]; do sleep 0.05; done; '$STUB/calls' small 7; touch done) & '$STUB/odd' one"
	status_is 0
	rm -r a.hrr
	run_sep hrr-capture -o a.hrr -- sh -c "touch go; until [ -e done ]; do sleep 0.05; done; '$STUB/odd' one"
	status_is 0
	[ "$(ended a.hrr)" = '["complete",1,0]' ]
	err_lacks 'runs on'
}

@test "odd: processes of one pid in namespaces of their own, begun at once, each to its end" {
	local own
	for own in "unshare -pf" "unshare -Urpf" ""; do
		[ -z "$own" ] || ! $own true 2>/dev/null || break
	done
	[ -n "$own" ] || skip "no namespace to be had here"
	for i in 1 2 3; do
		run_sep hrr-capture -q -o "a$i.hrr" -- sh -c \
			"for i in 1 2 3 4; do $own '$STUB/calls' paced 40 & done; wait"
		status_is 0
		[ "$(ended "a$i.hrr" | sort | uniq -c | tr -s ' ')" = ' 4 ["complete",40,0]' ]
	done
}

@test "odd: a process whose first thread has ended, and that closed all it had, is alive" {
	run_sep hrr-capture -q -o a.hrr -- sh -c "'$STUB/odd' leader; true"
	status_is 0
	[ "$(ended a.hrr)" = '["complete",21,0]' ]
}
