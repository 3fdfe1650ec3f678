# What tests of hrr-play share: `load play` behind `load helper`.
# shellcheck shell=bash
# shellcheck disable=SC2086 # $DEV is an option and its argument

setup() {
	common_setup
	need_prog hrr-play hrr-capture hrr-cat
	[ "$DEVICE" != emu ] || need_emu
}

# record APP [ARG...]: $T/run.hrr; what the app printed in $T/app.out
record() {
	need_apps "$1"
	on_device hrr-capture $DEV -o "$T/run.hrr" -- "$@" >"$T/app.out" 2>"$T/app.err" || {
		cat "$T/app.out" "$T/app.err"
		return 1
	}
}
# matched N: the last play compared N outputs, all exact
matched() {
	status_is 0
	err_like "Verdict : matched: $1 outputs? compared, all exact"
}
play() { run_sep hrr-play $DEV "$@"; }
events() { echo "$T"/run.hrr/pid-*/events.jsonl; }
