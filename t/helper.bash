# What every bats file loads. Each test runs in an empty folder of its own, $T.
#
#   run_sep CMD...        runs CMD with its outputs apart: $status, $out, $err and
#                         the files $T/.out, $T/.err (byte for byte)
#   status_is N           and out_is TEXT, out_has TEXT, out_like REGEX, no_out, and the
#                         same for err_: checks that say what they saw
#   need_emu, need_apps NAME..., need_cmd CMD...: skips with a reason (HRR_T_STRICT=1: fails)
#   need_terminal: skips where there is none, always
#   emu CMD...            runs CMD on the CPU run time (a program, so that timeout takes it)
#   on_device CMD...      runs CMD on $DEVICE; $DEV is the option for hrr-capture and hrr-play
#   $APPS                 where the programs of t/apps are; $ROOT the tree; $BUILD what was built
# shellcheck shell=bash
# shellcheck disable=SC2034 # variables are for the tests

ROOT=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
# Where the programs of t/apps were compiled: their lines of source say so.
SOURCES=${HRR_T_SOURCES:-$ROOT}
BUILD=${BUILD:-$ROOT/build/gcc}
case $BUILD in
/*) ;;
*) BUILD=$ROOT/$BUILD ;;
esac
APPS=$BUILD/t/apps
DEVICE=${DEVICE:-emu}
DEV="-d $DEVICE"
PATH=$ROOT/t/wrap:$BUILD/bin:$APPS:$PATH
LC_ALL=C.UTF-8
export ROOT BUILD APPS DEVICE PATH LC_ALL
# What a user has set must not reach the tests.
unset "${!HRR_EMU_@}" LD_PRELOAD
# A report of a sanitizer is not an answer of the program: its exit code is like no other.
export ASAN_OPTIONS=exitcode=99:detect_stack_use_after_return=1
export UBSAN_OPTIONS=print_stacktrace=1:exitcode=99
export TSAN_OPTIONS=exitcode=99

setup() {
	common_setup
}

common_setup() {
	T=$BATS_TEST_TMPDIR
	cd "$T" || return 1
}

run_sep() {
	status=0
	case $(type -t "$1") in
	function | builtin) "$@" >"$T/.out" 2>"$T/.err" || status=$? ;;
	*) timeout -k 5 "${LIMIT:-120}" "$@" >"$T/.out" 2>"$T/.err" || status=$? ;;
	esac
	out=$(tr -d '\0' <"$T/.out")
	err=$(tr -d '\0' <"$T/.err")
}

# saw WHAT: why a check failed, with all there is to see.
saw() {
	echo "$1"
	echo "exit code: $status"
	echo "--- stdout: $(head -c 4000 "$T/.out")"
	echo "--- stderr: $(head -c 4000 "$T/.err")"
	return 1
}

status_is() { [ "$status" -eq "$1" ] || saw "exit code $1 is due"; }
out_is() { [ "$out" = "$1" ] || saw "stdout should be: $1"; }
err_is() { [ "$err" = "$1" ] || saw "stderr should be: $1"; }
out_has() { [[ $out == *"$1"* ]] || saw "stdout should hold: $1"; }
err_has() { [[ $err == *"$1"* ]] || saw "stderr should hold: $1"; }
out_like() { [[ $out =~ $1 ]] || saw "stdout should match: $1"; }
err_like() { [[ $err =~ $1 ]] || saw "stderr should match: $1"; }
out_lacks() { [[ $out != *"$1"* ]] || saw "stdout should not hold: $1"; }
err_lacks() { [[ $err != *"$1"* ]] || saw "stderr should not hold: $1"; }
no_out() { [ ! -s "$T/.out" ] || saw "stdout should be empty"; }
no_err() { [ ! -s "$T/.err" ] || saw "stderr should be empty"; }

lacking() {
	[ "${HRR_T_STRICT:-}" != 1 ] || {
		echo "HRR_T_STRICT: $1"
		return 1
	}
	skip "$1"
}

need_cmd() {
	local c
	for c in "$@"; do
		command -v "$c" >/dev/null || lacking "no $c here" || return 1
	done
}

need_apps() {
	local a
	for a in "$@"; do
		[ -e "$APPS/$a" ] || lacking "t/apps/$a is not built (no hipcc?)" || return 1
	done
}

need_emu() {
	[ "$DEVICE" = emu ] || skip "needs the CPU run time, DEVICE is $DEVICE"
	[ -e "$BUILD/lib/hrr/libhrr-emu.so" ] || lacking "no CPU run time in $BUILD" || return 1
	[ -e "$BUILD/lib/hrr/emu/libamdhip64.so.5" ] || lacking "no stand-ins in $BUILD"
}

# What a program does on a terminal: a sandbox may have none to give, which no package mends.
need_terminal() {
	script -qec true /dev/null >/dev/null 2>&1 || skip "no pseudo-terminal to be had here"
}

need_prog() {
	local p
	for p in "$@"; do
		[ -x "$BUILD/bin/$p" ] || lacking "no $p in $BUILD" || return 1
	done
}

# build_stub: a HIP run time that does nothing, and a program that calls it, into $STUB.
build_stub() {
	export STUB=$BATS_FILE_TMPDIR/stub
	mkdir -p "$STUB"
	${CC:-cc} -std=gnu11 -O1 -shared -fPIC -I"$BUILD/gen" -Wl,-soname,libamdhip64.so.5 \
		-o "$STUB/libamdhip64.so.5" "$ROOT/t/stub/hip.c"
	${CC:-cc} -std=gnu11 -O1 -I"$BUILD/gen" -o "$STUB/calls" "$ROOT/t/stub/calls.c" \
		"$STUB/libamdhip64.so.5" -lpthread
}

on_device() {
	case $DEVICE in
	emu) emu "$@" ;;
	*) "$@" ;;
	esac
}
