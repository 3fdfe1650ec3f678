#!/bin/bash
# One failing call of the system at a time, in every program: t/stub/fail.c makes the n-th call of
# a kind fail, for n = 1, 2, … until none fails any more. What has to hold each time:
#
#   exit code 0: what was to be written is there, whole and right
#   else the program's code for trouble, and a message that says why: nothing that looks whole
#   no signal, no end of waiting, nothing temporary left behind
#
#   faults.sh [-q] [CASE...]
#
# -q tries fewer n (1 2 3 5 8 13 …) and fewer errors. BUILD is what was built, FAULTS_KINDS the kinds of call.
# Every run that went wrong is a line; then it is exit 1. "N faults" is how many were injected.
# shellcheck disable=SC2034 # NAME_prog and NAME_want are looked up by name
set -u
shopt -s nullglob
: "${BUILD:=build/gcc}" "${CC:=cc}"
ROOT=$(cd "$(dirname "$0")/.." && pwd)
BUILD=$(cd "$BUILD" && pwd)
PATH=$BUILD/bin:$PATH
quick=
[ "${1-}" != -q ] || { quick=1; shift; }
W=$(mktemp -d) || exit 2
trap 'chmod -R u+w "$W"; rm -rf "$W"' EXIT
cd "$W" || exit 2

# shellcheck disable=SC2086 # $CC may be words
$CC -std=gnu11 -O1 -shared -fPIC ${HRR_T_ASAN:+-DFAIL_NO_MEMORY} -o fail.so "$ROOT/t/stub/fail.c" -ldl || exit 2
# shellcheck disable=SC2086
$CC -std=gnu11 -O1 -shared -fPIC -I"$BUILD/gen" -Wl,-soname,libamdhip64.so.5 -o libamdhip64.so.5 "$ROOT/t/stub/hip.c" &&
	$CC -std=gnu11 -O1 -I"$BUILD/gen" -o calls "$ROOT/t/stub/calls.c" ./libamdhip64.so.5 -lpthread || exit 2
# With a sanitizer its run time has to come first in what is recorded, here too.
if [ -n "${HRR_T_ASAN:-}" ]; then
	export LD_PRELOAD=$HRR_T_ASAN ASAN_OPTIONS=detect_leaks=0:exitcode=99
fi

cp -r "$ROOT/t/data/fuzz/play/symbols.hrr" one.hrr
cp -r "$ROOT/t/data/streams/small" two.hrr
cp -r "$ROOT/t/data/hrr/saxpy" up.hrr
cp "$ROOT/t/data/torch/plain.pickle" .
sed 's/"size":[0-9]*/"size":64/' one.hrr/pid-*/events.jsonl >other.jsonl
hrr-cat --pack one.hrr >one.pack
hrr-regions export --hrrr ref.hrrr up.hrr 2>/dev/null || cp "$ROOT"/t/data/hrr/regions/pid-1234/regions/hrr.hrrr ref.hrrr
printf 'type=i32\n' >rules

bad=0 faults=0
wrong() {
	bad=$((bad + 1))
	echo "$case: $kind $how${on:+, also later ones} at $n ($(tail -n1 log)): $1"
	sed 's/^/    /' err | head -5
}

state() { sed -n 's/.*"state":"\([a-z]*\)".*/\1/p' "$1/manifest.json" 2>/dev/null; }

# The folder or file as the run without faults left it. Manifests have the time in them.
same() {
	[ -e "$1" ] || { wrong "exit code 0, but no $1"; return; }
	diff -rq --exclude=manifest.json "$1" "ref/$1" >differs 2>&1 || wrong "exit code 0, but $(head -1 differs)"
	[ "$(state "$1")" = "$(state "ref/$1")" ] || wrong "exit code 0, but the manifest says $(state "$1")"
}
absent() {
	# Standard output is closed last, when all else is done.
	[ "$(cat log)" != 'close 1' ] || { same "$1"; return; }
	[ ! -e "$1" ] || wrong "exit code $code, but $1 is there"
}

# --- cases: NAME_run runs it, NAME_check looks at what is left ($code: exit code) ----------

out_check() { if [ "$code" -eq 0 ]; then same out; else absent out; fi; }
stdout_check() {
	if [ "$code" -eq 0 ]; then
		cmp -s stdout ref/stdout || wrong "exit code 0, but standard output is another"
	fi
}

cat_print_run() { hrr-cat two.hrr; }
cat_print_check() { stdout_check; }
cat_regions_run() { hrr-cat --text --regions side.jsonl one.hrr; }
cat_regions_check() { stdout_check; }
cat_foreign_run() { hrr-cat up.hrr; }
cat_foreign_check() { stdout_check; }
cat_info_run() { hrr-cat --info one.hrr; }
cat_info_check() { stdout_check; }
cat_verify_run() { hrr-cat --verify one.hrr; }
cat_verify_check() { stdout_check; }
cat_csv_run() { hrr-cat --csv one.hrr; }
cat_csv_check() { stdout_check; }
cat_timeline_run() { hrr-cat --timeline one.hrr; }
cat_timeline_check() { stdout_check; }
cat_names_run() { hrr-cat --info --demangle one.hrr; }
cat_names_check() { stdout_check; }
cat_slice_run() { hrr-cat --slice @launch one.hrr; }
cat_slice_check() { stdout_check; }
cat_o_run() { hrr-cat -o out one.hrr; }
cat_o_check() { out_check; }
cat_o_two_run() { hrr-cat -o out -x -e '@free' two.hrr; }
cat_o_two_check() { out_check; }
cat_repair_run() { hrr-cat --repair -o out one.hrr; }
cat_repair_check() { out_check; }
cat_repair_bad_run() { hrr-cat --repair -o out damaged.hrr; }
cat_repair_bad_check() { out_check; }
# What is said of what a redacted archive still tells is part of it.
cat_redact_run() { hrr-cat --redact -o out one.hrr; }
cat_redact_ref() { cat_redact_events out >events; }
cat_redact_events() { sed 's/xxh128:[0-9a-f]*/id/g' "$1"/pid-*/events.jsonl; }
cat_redact_check() {
	[ "$code" -eq 0 ] || [ "$(cat log)" = 'close 1' ] || { absent out; return; }
	cat_redact_events out | cmp -s - ref/events || wrong 'exit code 0, but other events'
	hrr-cat --verify out >verified || wrong "exit code 0, but $(tail -1 verified)"
	[ "$(find out -type f | wc -l)" = "$(find ref/out -type f | wc -l)" ] || wrong 'exit code 0, but other blobs'
	for f in one.hrr/blobs/*/*; do
		grep -qa ELF "$f" || [ ! -e "out/${f#one.hrr/}" ] || wrong "exit code 0, but $f is there"
	done
}
cat_hrr8_run() { hrr-cat -o out --format hrr8 one.hrr; }
cat_hrr8_check() { out_check; }
cat_o_foreign_run() { hrr-cat -o out up.hrr; }
cat_o_foreign_check() { out_check; }
cat_pack_run() { hrr-cat --pack one.hrr; }
cat_pack_check() { stdout_check; }
cat_pack_up_run() { hrr-cat --pack two.hrr; }
cat_pack_up_check() { stdout_check; }
cat_unpack_run() { hrr-cat --unpack -o out one.pack; }
cat_unpack_check() { out_check; }
play_r_run() { hrr-play -q -d emu -r results one.hrr; }
play_r_check() { [ "$code" -ne 0 ] || same results; }
play_rules_run() { hrr-play -d emu --rules rules one.hrr; }
play_rules_check() { [ "$code" -ne 0 ] || cmp -s err ref/err || wrong "exit code 0, but another summary"; }
play_hash_run() { hrr-play -q -d emu --hash-launches hashes one.hrr; }
play_hash_check() {
	[ "$code" -eq 0 ] || return 0
	sed 's/"blobs":"[^"]*"//' hashes >h && sed 's/"blobs":"[^"]*"//' ref/hashes >h2
	cmp -s h h2 || wrong "exit code 0, but other hashes"
	same hashes.blobs
}
diff_run() { hrr-diff one.hrr other.jsonl; }
diff_want=1
diff_check() { [ "$code" -ne 1 ] || cmp -s stdout ref/stdout || wrong "exit code 1, but another difference"; }
diff_equal_run() { hrr-diff one.hrr one.hrr; }
diff_equal_check() { stdout_check; }
diff_results_run() { hrr-diff results.ref results.ref; }
diff_results_check() { stdout_check; }
# A sidecar is as it was before, or as it was to become.
sidecar_check() {
	local f=in/pid-26928/regions/added.jsonl
	if [ "$code" -eq 0 ]; then
		diff -rq in ref/in >differs || wrong "exit code 0, but $(head -1 differs)"
	elif [ -e $f ] && ! cmp -s $f added.before && ! cmp -s $f ref/$f; then
		wrong "exit code $code, and the sidecar is half written"
	fi
}
regions_new_run() { hrr-regions add --kind segment --base 0x7f0000000000 --size 4096 -a in; }
regions_new_setup() { cp -r one.hrr in; }
regions_new_check() { sidecar_check; }
regions_more_run() { hrr-regions add --kind segment --base 0x7f0000100000 --size 4096 -a in; }
regions_more_setup() {
	cp -r one.hrr in
	mkdir in/pid-26928/regions
	cp added.before in/pid-26928/regions/added.jsonl
}
regions_more_check() { sidecar_check; }
regions_add_run() { hrr-regions add --kind segment --base 0x7f0000000000 --size 4096 <other.jsonl; }
regions_add_check() { stdout_check; }
regions_torch_run() { hrr-regions import --torch plain.pickle -a in; }
regions_torch_setup() { cp -r one.hrr in; }
regions_torch_check() { sidecar_check; }
regions_ls_run() { hrr-regions ls two.hrr; }
regions_ls_check() { stdout_check; }
regions_check_run() { hrr-regions check in; }
regions_check_setup() { cp -r with.hrr in; }
regions_check_check() { stdout_check; }
regions_explain_run() { hrr-regions explain 0x7f0000000008 in; }
regions_explain_setup() { cp -r with.hrr in; }
regions_explain_check() { stdout_check; }
regions_lint_run() { hrr-regions lint --confidence 0 two.hrr; }
regions_lint_check() { stdout_check; }
regions_clip_run() { hrr-regions clip --from 0 -a in side.jsonl; }
regions_clip_setup() { cp -r with.hrr in; }
regions_clip_check() { stdout_check; }
regions_del_run() { hrr-regions del --base 0x7f0000000000 --t 9 -a in; }
regions_del_setup() {
	cp -r one.hrr in
	mkdir in/pid-26928/regions
	cp added.before in/pid-26928/regions/added.jsonl
}
regions_del_check() { sidecar_check; }
regions_in_run() { hrr-regions import --hrrr ref.hrrr -a in; }
regions_in_setup() { cp -r one.hrr in; }
regions_in_check() { sidecar_check; }
regions_hrrr_run() { hrr-regions export --hrrr out --pid 4242 two.hrr; }
regions_hrrr_check() { out_check; }
regions_svg_run() { hrr-regions map --svg two.hrr; }
regions_svg_check() { stdout_check; }
regions_merge_run() { hrr-regions merge side.jsonl side.jsonl; }
regions_merge_check() { stdout_check; }
# In a recording the faults are in hrr-capture or in the program, which runs on whatever happens.
capture_events() { # archive
	sed -E 's/"(t|dur|tid|t0|realtime|pid)":("[0-9]+"|[0-9]+),?//g; s/"0x[0-9a-f]+"/0/g; 1d' "${1:-out}"/pid-*/events.jsonl
}
capture_check() {
	local end state
	state=$(state out)
	end=$(tail -n1 out/pid-*/events.jsonl /dev/null 2>/dev/null | sed -n 's/.*"end":"\([a-z]*\)".*/\1/p')
	if [ -e ran ] && [ "$(cat ran)" != 0 ]; then
		wrong "the program did not run as it would have"
	elif [ ! -e ran ] && [ "$code" -eq 0 ]; then
		wrong "exit code 0, but the program did not run"
	fi
	if [ "$code" -eq 0 ]; then
		[ "$state$end" = completecomplete ] || wrong "exit code 0, but the archive is ${state:-none}, its stream ${end:-none}"
		capture_events >events
		cmp -s events ref/events || wrong "exit code 0, but other events"
		hrr-cat --verify out >verified || wrong "exit code 0, but $(tail -1 verified)"
	else
		[ "$state$end" != completecomplete ] || capture_events | cmp -s - ref/events || wrong "exit code $code, but the archive looks complete"
	fi
}
capture_prog=hrr-capture
capture_want=125
capture_run() { LD_LIBRARY_PATH=. hrr-capture --strict --min-free 0 -q -o out -- sh -c './calls copies 3 70000; echo $? >ran'; }
capture_setup() { rm -rf ran; }
capture_ref() { capture_events >events; }
program_prog=calls
program_want=125
program_run() { capture_run; }
program_setup() { capture_setup; }
program_check() { capture_check; }
program_ref() { capture_ref; }
# A window leaves less, and not the same each time; what is there is whole, its last calls among it.
window_prog=hrr-capture
window_want=125
window_run() { LD_LIBRARY_PATH=. hrr-capture --strict --min-free 0 -q --window 0.0005 -o out -- sh -c './calls copies 12 70000; echo $? >ran'; }
window_setup() { capture_setup; }
window_check() {
	local state end
	state=$(state out)
	end=$(tail -n1 out/pid-*/events.jsonl /dev/null 2>/dev/null | sed -n 's/.*"end":"\([a-z]*\)".*"calls":\([0-9]*\).*/\1 \2/p')
	[ "$(cat ran 2>/dev/null)" = 0 ] || [ "$code" -ne 0 ] || wrong "exit code 0, but the program did not run well"
	[ ! -e ran ] || [ "$(cat ran)" = 0 ] || wrong "the program did not run as it would have"
	set -- out/pid-*/*.window out/pid-*/*.cut
	[ $# -eq 0 ] || wrong "left behind: $*"
	[ "$code" -eq 0 ] || [ "$state" = complete ] || return 0
	case $end in
	'complete 26' | filtered*) ;;
	*) wrong "exit code $code, but the archive is ${state:-none}, its stream ${end:-none}" ;;
	esac
	[ "$(grep -c '^{"seq":' out/pid-*/events.jsonl)" = "${end#* }" ] || wrong "exit code $code, but not as many calls as its end says"
	tail -n 2 out/pid-*/events.jsonl | head -n 1 | grep -q '"api":"hipFree"' || wrong "exit code $code, but its last call is missing"
	# What could not be removed is said, and stays.
	hrr-cat --verify out >verified || { [ "$code" -ne 0 ] && grep -q ' 0 missing, 0 damaged, .* 0 records broken' verified; } ||
		wrong "exit code $code, but $(tail -1 verified)"
}
# Events to standard output: what stands there is whole lines, and ends as complete only if all is there.
pipe_prog=hrr-capture
pipe_want=125
pipe_run() { LD_LIBRARY_PATH=. hrr-capture --strict --min-free 0 -q -o - -b blobs -- sh -c './calls copies 3 70000; echo $? >ran'; }
pipe_setup() { rm -rf ran blobs; }
pipe_events() { sed -E 's/"(t|dur|tid|t0|realtime|pid|blobs)":("[^"]+"|[0-9]+),?//g; s/"0x[0-9a-f]+"/0/g; 1d' stdout; }
pipe_ref() { pipe_events >events; }
pipe_check() {
	local end
	end=$(tail -n1 stdout | sed -n 's/.*"end":"\([a-z]*\)".*/\1/p')
	[ "$(cat ran 2>/dev/null)" = 0 ] || { [ ! -e ran ] && [ "$code" -ne 0 ]; } || wrong "the program did not run as it would have"
	[ "$code" -eq 0 ] || [ "$end" = complete ] || return 0
	[ "$end" = complete ] || wrong "exit code 0, but the stream is ${end:-cut}"
	pipe_events | cmp -s - ref/events || wrong "exit code $code, but other events"
	hrr-cat --verify -b blobs stdout >verified || wrong "exit code $code, but $(tail -1 verified)"
}
recover_prog=hrr-capture
recover_want=125
recover_run() { hrr-capture --recover in; }
recover_setup() { cp -r killed.hrr in; }
recover_ref() { capture_events in >events; }
recover_check() {
	local state
	state=$(state in)
	capture_events in >events
	if [ "$code" -eq 0 ]; then
		[ "$state" = complete ] || wrong "exit code 0, but the archive is $state"
		cmp -s events ref/events || wrong "exit code 0, but other events"
	else
		[ "$state" != complete ] || cmp -s events ref/events || wrong "exit code $code, but the archive looks complete"
	fi
}

# --- the loop -----------------------------------------------------------------------

clean() { rm -rf out in stdout err results hashes hashes.blobs ran h h2; }

# once N: the case with its N-th call failing. 1: it had none so late.
once() {
	clean
	: >log
	"${case}_setup" 2>/dev/null
	(
		export FAIL_PROG=$prog FAIL_CALL=$kind FAIL_AT=$n FAIL_HOW=$how FAIL_LOG=$W/log
		[ "$prog" != calls ] || export FAIL_LIB=libhrr-preload
		[ -z "$on" ] || export FAIL_ON=1
		export LD_PRELOAD="${HRR_T_ASAN:+$HRR_T_ASAN:}$W/fail.so"
		export ASAN_OPTIONS=detect_leaks=0:exitcode=99
		"${case}_run"
	) >stdout 2>err
	code=$?
	[ -s log ] || return 1
	faults=$((faults + 1))
	[ "$code" -lt 128 ] || wrong "exit code $code"
	if [ "$code" -ne 0 ]; then
		# What the run time of a replay cannot do is a call that failed, said and counted.
		[ "$code" -eq "$want" ] || [ "$code" -eq "$trouble" ] ||
			{ [[ $case == play* ]] && [ "$code" -eq 1 ] && grep -q 'Verdict : failed' err; } ||
			wrong "exit code $code"
		[ -s err ] || [ "$code" -eq "$want" ] || wrong "exit code $code without a word"
		[ "$(grep -c "^$(tool):" err)" -le 3 ] || [ "$case" = play_rules ] || [ "$case" = cat_hrr8 ] || [ "$case" = cat_repair_bad ] || wrong 'more than three messages'
		! grep -q 'Success' err || wrong 'the reason is lost'
	fi
	"${case}_check"
	set -- .tmp-* ./*/.tmp-*
	[ $# -eq 0 ] || { wrong "left behind: $*"; rm -rf "$@"; }
	return 0
}

tool() { case $case in cat*) echo hrr-cat ;; play*) echo hrr-play ;; diff*) echo hrr-diff ;; regions*) echo hrr-regions ;; *) echo hrr-capture ;; esac; }

try() {
	local a=1 b=1 t
	n=1
	while [ "$n" -lt 3000 ]; do
		once || break
		if [ -n "$quick" ]; then
			t=$((a + b)) a=$b b=$t
			n=$b
		else
			n=$((n + 1))
		fi
	done
}

unharmed() {
	once || return 0
	[ "$code" -eq "$usual" ] || wrong "exit code $code"
}

# ENOSPC 28, EIO 5, EMFILE 24, ENOMEM 12
errors() {
	case $1 in
	open | list | start) echo 24 5 ;;
	read) echo 5 ;;
	write) [[ $case == pipe ]] && echo 28 5 || echo 28 ;;
	mkdir | rename | size | link) echo 28 ;;
	mmap | memory) echo 12 ;;
	*) echo 5 ;;
	esac
}

cases='cat_print cat_regions cat_foreign cat_info cat_verify cat_csv cat_timeline cat_names cat_slice cat_o cat_o_two
cat_repair cat_repair_bad cat_redact cat_hrr8 cat_o_foreign cat_pack cat_pack_up cat_unpack diff diff_equal diff_results
regions_new regions_more regions_del regions_add regions_torch regions_in regions_ls regions_check regions_explain
regions_lint regions_clip regions_hrrr regions_svg regions_merge play_r play_rules play_hash capture program window
pipe recover'
[ $# -eq 0 ] || cases=$*
: "${FAULTS_KINDS:=open read write mkdir mmap close sync rename size stat link list path start memory}"

# What the cases start from.
mkdir ref
printf '%s\n' '{"regions":1,"clock":"monotonic","t0":"1"}' '{"region":"add","kind":"segment","t":5,"base":"0x7f0000000000","size":4096}' >side.jsonl
cp -r one.hrr in && hrr-regions add --kind segment --base 0x7f0000000000 --size 4096 -a in && cp in/pid-26928/regions/added.jsonl added.before
cp -r in with.hrr && rm -r in
cp -r one.hrr damaged.hrr && sed -i 's/"seq":9,/"seq":,/; $d' damaged.hrr/pid-*/events.jsonl && for f in damaged.hrr/blobs/*/*; do echo >>"$f"; break; done
hrr-play -q -d emu -r results.ref one.hrr
LD_LIBRARY_PATH=. hrr-capture -q --min-free 0 -o killed.hrr -- sh -c './calls paced 200; echo >ended' & pid=$!
for _ in $(seq 200); do [ "$(cat killed.hrr/pid-*/events.jsonl 2>/dev/null | wc -l)" -lt 5 ] || break; sleep 0.05; done
kill -9 $pid; wait $pid 2>/dev/null
for _ in $(seq 600); do [ ! -e ended ] || break; sleep 0.05; done

for case in $cases; do
	prog=${case}_prog want=${case}_want on=
	prog=${!prog:-$(tool)} want=${!want:-2} trouble=2
	[ "$want" -ne 125 ] || trouble=125
	declare -F "${case}_setup" >/dev/null || eval "${case}_setup() { :; }"
	clean
	"${case}_setup" 2>/dev/null
	"${case}_run" >stdout 2>err
	code=$?
	usual=$code
	[ "$code" -le 1 ] || { echo "$case does not work: exit code $code: $(cat err)"; exit 1; }
	! declare -F "${case}_ref" >/dev/null || "${case}_ref"
	rm -rf ref
	mkdir ref
	for f in out in stdout err results hashes hashes.blobs events; do
		[ ! -e $f ] || cp -r $f ref/
	done
	before=$faults
	for kind in $FAULTS_KINDS; do
		# The disassembler of the CPU run time is C++ that ends a program without memory; what the
		# recorder cannot remember inside a program makes it say more than it has to.
		[[ $case != play* && $case != program || $kind != memory ]] || continue
		# The loader ends a program that has no memory for one more library.
		[[ $case != cat_names || $kind != memory ]] || continue
		# jansson, which reads manifests that are indented, loses its way without memory.
		[[ $case != *_foreign || $kind != memory ]] || continue
		for how in $(errors "$kind"); do
			try
			[ -z "$quick" ] || break
		done
		case $kind in
		write | read)
			[ "$kind" = read ] || [ -n "$quick" ] || {
				on=1 how=28
				try
			}
			# Nothing may come of one that is interrupted, or of all that are cut short.
			n=1 on='' how=intr
			[[ $case == play_rules || $case == play_hash ]] || unharmed # stdio gives up, and says so
			on=1 how=short
			unharmed
			on=
			;;
		esac
	done
	echo "# $case: $((faults - before)) faults"
done
echo "$faults faults, $bad wrong"
[ "$bad" -eq 0 ]
