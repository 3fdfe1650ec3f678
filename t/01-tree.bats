# The tree as a whole: layers, exports, what every program has in common, examples.
load helper

programs() {
	local f
	for f in "$ROOT"/bin/hrr-*.c; do
		[ ! -e "$f" ] || basename "$f" .c
	done
}

# A page's SYNOPSIS as plain text on one line.
synopsis() {
	mandoc -T ascii -O width=200 "$1" | sed 's/.\x08//g' |
		awk '/^[A-Z]/ { on = /^SYNOPSIS/; next } on' | tr -s ' \n' '  ' | sed 's/^ //; s/ $//'
}

@test "tree: what patch leaves behind is not kept" {
	run_sep find "$ROOT" -path "$ROOT/build" -prune -o -name '*.orig' -print -o -name '*.rej' -print
	status_is 0
	no_out
}

@test "tree: include lines point downwards only" {
	run_sep sh "$ROOT/t/lint/layers.sh" "$ROOT"
	no_out
	status_is 0
}

@test "tree: an upward, a sideways and a nameless include line are found" {
	mkdir -p bin t lib/base lib/store lib/hip formats/hrr
	echo '#include "lib/store/blob.h"' >lib/base/up.c
	echo '#include "blob.h"' >lib/store/near.c
	echo '#include "formats/hrr/read.h"' >lib/store/formats.c
	echo '#include "lib/hip/entry.h"' >formats/hrr/up.c
	echo '#include <jansson.h>' | tee lib/base/one.c >lib/store/two.c
	echo '#include "lib/base/buf.h"' >lib/store/fine.c
	run_sep sh "$ROOT/t/lint/layers.sh" "$T"
	status_is 1
	out_has 'lib/base/up.c:1: lib/store/blob.h: lib/base stands before lib/store'
	out_has 'lib/store/near.c:1: blob.h: is not named from the top of the tree'
	out_has 'lib/store/formats.c:1: formats/hrr/read.h: lib uses nothing of formats'
	out_has 'formats/hrr/up.c:1: lib/hip/entry.h: formats use lib/base to lib/region only'
	out_has 'jansson.h is included by more than one file: lib/base/one.c lib/store/two.c'
	out_lacks fine.c
}

@test "tree: jansson, xxHash and LLVM are included by one file each" {
	cd "$ROOT"
	for h in 'jansson\.h' 'xxhash\.h' 'llvm-c/'; do
		echo "$h"
		[ "$(grep -rlE "^#[ 	]*include[ 	]*[<\"]$h" bin lib formats t --include='*.[chS]' | wc -l)" -le 1 ]
	done
}

@test "tree: files and folders that the texts name are there" {
	local f p n=0
	cd "$ROOT"
	for f in README.md DESIGN.md CONTRIBUTING.md t/README.md; do
		# shellcheck disable=SC2013 # they are words
		for p in $(grep -oE '\b(lib|bin|t|formats|man)/[A-Za-z0-9_./*-]+' "$f" | sed 's/[.,:)]*$//' | sort -u); do
			case $p in
			*NAME* | t/NN*) continue ;;
			t/unit/*.c | *.*) ;;
			t/unit/*) [[ $p == *\* ]] || p=$p.c ;;
			esac
			compgen -G "$p" >/dev/null || { echo "$f: $p"; return 1; }
			n=$((n + 1))
		done
	done
	[ "$n" -gt 50 ]
}

@test "tree: shared objects export what hip.api says" {
	run_sep sh "$ROOT/t/lint/exports.sh"
	no_out
	status_is 0
}

@test "tree: every fault patch applies, and its test is there" {
	cd "$ROOT"
	run_sep sh t/fault.sh -n
	no_out
	no_err
	status_is 0
}

@test "tree: a fault patch that the code or its test has left behind is named" {
	mkdir -p t/unit
	seq 1 9 >code
	echo '@test "code: counts" {' >t/some.bats
	: >t/unit/one.c
	made() { # NAME TEST FILTER LINE
		printf 'Test: %s\n%s\n--- a/code\n+++ b/code\n@@ -5 +5 @@\n-%s\n+x\n' \
			"$2" "${3:+Filter: $3}" "$4" >"$1.patch"
	}
	made good t/some.bats count 5
	made unit one '' 5
	made stale t/some.bats count five
	made renamed t/some.bats adds 5
	made gone two '' 5
	run_sep sh "$ROOT/t/fault.sh" -n good.patch unit.patch
	no_out
	status_is 0
	run_sep sh "$ROOT/t/fault.sh" -n good.patch unit.patch stale.patch renamed.patch gone.patch
	status_is 1
	out_is 'stale.patch: does not apply
renamed.patch: no such test: t/some.bats: adds
gone.patch: no such test: two'
	[ "$(ls)" = "$(printf '%s\n' code gone.patch good.patch renamed.patch stale.patch t unit.patch)" ]
}

@test "tree: other compiler flags compile again, the same ones do not" {
	local o=$T/b/obj/lib/base/range.o
	make() { env -u MAKEFLAGS -u MAKEOVERRIDES make -s -C "$ROOT" CONFIG=gcc CC=gcc BUILD="$T/b" "$@"; }
	make "$o"
	make -q "$o"
	run_sep make -q OPT=-O1 "$o"
	status_is 1
	make OPT=-O1 "$o"
	make -q OPT=-O1 "$o"
}

@test "every program: -h is on stdout, fits 80 columns and exits 0" {
	for p in $(programs); do
		run_sep "$p" -h
		echo "$p"
		status_is 0
		no_err
		out_like "^usage: $p"
		[ "$(awk 'length > 80' <"$T/.out" | wc -l)" -eq 0 ] || saw "$p: -h is too wide"
	done
}

@test "every program: the SYNOPSIS of its page equals -h" {
	for p in $(programs); do
		echo "$p"
		[ -e "$ROOT/man/$p.1" ]
		run_sep "$p" -h
		usage=$(awk '!NF { exit } { sub(/^(usage|   or): */, ""); print }' "$T/.out" | tr -s ' \n' '  ' | sed 's/^ //; s/ $//')
		[ "$usage" = "$(synopsis "$ROOT/man/$p.1")" ] ||
			saw "$p: usage:    $usage
$p: SYNOPSIS: $(synopsis "$ROOT/man/$p.1")"
	done
}

@test "every program: --version names the version" {
	for p in $(programs); do
		run_sep "$p" --version
		echo "$p"
		status_is 0
		no_err
		out_has "$p $(cat "$ROOT/VERSION")"
	done
}

@test "every program: an option it does not know is misuse: stderr, 2" {
	for p in $(programs); do
		run_sep "$p" --no-such-option
		echo "$p"
		case $p in
		hrr-capture) status_is 125 ;;
		*) status_is 2 ;;
		esac
		no_out
		err_like "^$p: "
	done
}

@test "every program has a manual page and mandoc finds nothing in any" {
	for p in $(programs); do
		echo "$p"
		[ -e "$ROOT/man/$p.1" ]
	done
	for m in "$ROOT"/man/*.[157]; do
		[ ! -e "$m" ] || mandoc -T lint -W warning "$m"
	done
}

# What examples may use without making it: programs of t/apps on PATH and as
# ./NAME, run.hrr (saxpy) and other.hrr (saxpy 3), recorded on the CPU run time.
example_folder() { # COMMANDS FOLDER
	local a x
	# shellcheck disable=SC2013 # they are words
	for x in $(grep -oE 'hrr-[a-z]+' <<<"$1" | sort -u); do
		need_prog "$x"
	done
	if [[ $1 =~ run\.hrr|other\.hrr|saxpy ]]; then
		need_prog hrr-capture
		need_apps saxpy
		need_emu
	fi
	mkdir -p "$2"
	for a in "$APPS"/*; do
		[ ! -e "$a" ] || ln -s "$a" "$2/"
	done
	cp "$ROOT/t/apps/saxpy.hip" "$ROOT/t/apps/app.h" "$2/"
	if [[ $1 == *run.hrr* ]] && ! [[ $1 =~ -o\ run\.hrr ]]; then
		hrr-capture -d emu -o "$2/run.hrr" -- "$APPS/saxpy" >/dev/null
	fi
	if [[ $1 == *other.hrr* ]] && ! [[ $1 =~ -o\ other\.hrr ]]; then
		hrr-capture -d emu -o "$2/other.hrr" -- "$APPS/saxpy" 3 >/dev/null
	fi
}

run_examples() { # TEXT
	local commands d
	commands=$(bash "$ROOT/t/examples.sh" --list "$1")
	[ -n "$commands" ] || return 0
	d=$T/$(basename "$1")
	example_folder "$commands" "$d"
	(cd "$d" && bash "$ROOT/t/examples.sh" "$1")
}

@test "examples: what a text shows is compared, exit codes too" {
	# shellcheck disable=SC2016
	printf '%s\n' '```' '$ printf "a\nb\nc\n"' a ... c '$ false # exit 1' '```' >good.md
	run_sep bash "$ROOT/t/examples.sh" good.md
	no_out
	status_is 0
	# shellcheck disable=SC2016
	printf '%s\n' '```' '$ echo b' a '```' >bad.md
	run_sep bash "$ROOT/t/examples.sh" bad.md
	status_is 1
	out_has 'not what the text shows'
	# shellcheck disable=SC2016
	printf '%s\n' '.Sh EXAMPLES' '.Bd -literal' '$ test "\ex" = \(aq\ex\(aq' '$ false' '.Ed' >page.1
	run_sep bash "$ROOT/t/examples.sh" page.1
	status_is 1
	out_has 'page.1: false'
}

@test "examples: README" {
	run_examples "$ROOT/README.md"
}

@test "examples: manual pages" {
	local m
	for m in "$ROOT"/man/*.[157]; do
		[ ! -e "$m" ] || run_examples "$m"
	done
}
