#!/bin/sh
# fault.sh [PATCH...]: each patch of t/fault breaks one rule of the code. It is
# applied in a copy of the tree, built apart, and the test it names has to go red.
# The lines before the diff say what:
#	Test: t/40-diff.bats	(or the name of a program of t/unit)
#	Filter: REGEX		(bats files: only the tests whose titles match)
# Last line: "N passed, N failed". A test that is red without the patch proves nothing and fails.
# fault.sh -n [PATCH...]: builds and runs nothing; names the patches that do not
# apply to the tree as it is, or whose test is not there (the code or the test
# moved on: such a patch has to be cut again).

# What a patch says of itself: $test and $filter.
about() {
	test=$(sed -n 's/^Test: *//p; /^diff \|^---/q' "$1")
	filter=$(sed -n 's/^Filter: *//p; /^diff \|^---/q' "$1")
}

# Of a bats file a title that the filter takes has to be there.
there() {
	case $test in
	*.bats) sed -n 's/^@test "\(.*\)" {$/\1/p' "$test" 2>/dev/null | grep -q -E -e "$filter" ;;
	*) [ -e "t/unit/$test.c" ] ;;
	esac
}

if [ "${1-}" = -n ]; then
	shift
	[ $# -gt 0 ] || set -- t/fault/*.patch
	code=0
	for patch in "$@"; do
		about "$patch"
		there || {
			echo "$patch: no such test: ${test:-(none named)}${filter:+: $filter}"
			code=1
		}
		patch --dry-run -p1 -f -s -r - <"$patch" >/dev/null || {
			echo "$patch: does not apply"
			code=1
		}
	done
	exit "$code"
fi

: "${BUILD:?}" "${MAKE:=make}"
root=$(pwd)
work=$BUILD/fault
passed=0
failed=0

[ $# -gt 0 ] || set -- t/fault/*.patch
[ -e "$1" ] || {
	echo 'fault: 0 passed, 0 failed'
	exit 0
}
rm -rf "$work"
mkdir -p "$work/src" "$work/build/t"
git ls-files -c -o --exclude-standard | while read -r f; do [ ! -f "$f" ] || echo "$f"; done |
	tar -c -f - -T - | tar -x -f - -C "$work/src"
[ ! -d "$BUILD/t/apps" ] || cp -al "$BUILD/t/apps" "$work/build/t/"

# In the copy: build, then the test of one patch. 0 green, 1 red, 2 did not build.
try() {
	case $test in
	*.bats) targets=all ;;
	*) targets=$work/build/t/unit/$test ;;
	esac
	(cd "$work/src" && BUILD='' $MAKE -s -j2 BUILD="$work/build" "$targets") >"$work/log" 2>&1 || return 2
	cd "$work/src" || return 2
	case $test in
	*.bats) BUILD=$work/build HRR_T_SOURCES=$root timeout 600 bats --tap ${filter:+-f "$filter"} "$test" ;;
	*) timeout 300 "$work/build/t/unit/$test" ;;
	esac >"$work/log" 2>&1 </dev/null
	code=$?
	cd "$root" || exit 2
	# A crash is as red as can be, even before the first test.
	[ "$code" -lt 128 ] || return 1
	# No test that ran is no answer.
	grep -q '^ok\|^not ok' "$work/log" || return 2
	[ "$code" -eq 0 ] && ! grep -q '^not ok' "$work/log"
}

wrong() {
	echo "not ok - $patch: $1"
	sed 's/^/# /' "$work/log" | tail -n 20
	failed=$((failed + 1))
}

for patch in "$@"; do
	about "$patch"
	: >"$work/log"
	[ -n "$test" ] || {
		wrong 'names no test'
		continue
	}
	key=$(printf '%s' "$test.$filter" | tr -c 'A-Za-z0-9.' _)
	if [ ! -e "$work/green.$key" ]; then
		try || {
			wrong "$test is not green without it"
			continue
		}
		: >"$work/green.$key"
	fi
	if ! patch -d "$work/src" -p1 -f -s <"$patch" >"$work/log" 2>&1; then
		wrong 'does not apply'
		git -C "$root" ls-files | tar -c -f - -T - | tar -x -f - -C "$work/src"
		continue
	fi
	try
	case $? in
	1)
		echo "ok - $patch: $(grep -m 1 '^not ok' "$work/log" | sed 's/^not ok [0-9]* *-* *//')"
		passed=$((passed + 1))
		;;
	0) wrong "$test stayed green" ;;
	*) wrong 'does not build, or its test does not run' ;;
	esac
	patch -d "$work/src" -p1 -f -s -R <"$patch" >/dev/null
done
echo "fault: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
