#!/bin/sh
# Every check that needs no run of a program; all of them, then one line.
# "N passed, N failed", exit 1 when something failed.
: "${BUILD:?}"
passed=0
failed=0

# check NAME COMMAND...
check() {
	name=$1
	shift
	if log=$("$@" 2>&1); then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf '%s\n' "$log" | head -n 60
		echo "lint: $name: failed"
	fi
}

# sources REGEX: files of the tree by name, as git lists them (new ones too).
sources() {
	git ls-files -c -o --exclude-standard 2>/dev/null | grep -E "$1" | while read -r f; do
		[ ! -f "$f" ] || echo "$f"
	done
}

format() { sources '\.(c|h|hip)$' | grep -vE '^t/(data|isa)/|^lib/preload/tramp.h' | xargs -r clang-format --dry-run -Werror; }
shell() {
	sources '(^|/)[^/]*\.sh$|^t/runtest$|^t/wrap/|^\.ci/run$' | xargs -r shellcheck &&
		sources '^t/[^/]*\.(bats|bash)$' | xargs -r shellcheck -s bats -e SC2154,SC2030,SC2031,SC2034,SC1091,SC2094,SC2209,SC2283
}
manuals() { sources '^man/.*\.[157]$' | xargs -r mandoc -T lint -W warning; }
# shellcheck disable=SC2016 # for the inner shell
tidy() {
	# The emulator's instruction files are loops written by a macro: minutes for nothing.
	sources '^(bin|lib|formats)/.*\.c$' | grep -v '^lib/emu/isa/' |
		xargs -r -n 8 -P 2 sh -c 'clang-tidy --quiet "$@" -- -std=c11 -D_GNU_SOURCE -I. \
			-I"$BUILD"/gen -I/usr/lib/llvm-19/include -DHRR_VERSION=\"0\" 2>/dev/null' tidy |
		grep -E 'warning:|error:|note:' && return 1
	return 0
}

check 'clang-format' format
check 'shellcheck' shell
check 'mandoc' manuals
check 'layers' sh t/lint/layers.sh
check 'exports' sh t/lint/exports.sh
check 'clang-tidy' tidy
echo "lint: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
