#!/bin/bash
# examples.sh FILE: runs the examples of a manual page (.Bd -literal blocks of
# EXAMPLES) or of a Markdown text (fenced blocks), in the current folder.
#
#   $ command        is run (a line that ends in \ goes on in the next); it has to exit with
#                    0, or with N when it ends in "# exit N"
#   other lines      after a command are its standard output, exactly; a line "..." stands
#                    for any lines. With no such lines the output is free.
# A block without a line that begins with "$ " is not an example.
# --list prints the commands instead. The first thing that is wrong ends it with exit code 1.
set -u
list=no
[ "$1" != --list ] || {
	list=yes
	shift
}
file=$1

# Blocks, with lines of \001 between them.
blocks() {
	case $file in
	*.md)
		awk '/^ *```/ { if (in_block) print "\001"; in_block = !in_block; next }
			in_block' "$file"
		;;
	*)
		awk '/^\.Sh / { ex = /EXAMPLES/ }
			ex && /^\.Bd .*-literal/ { in_block = 1; next }
			/^\.Ed/ { if (in_block) print "\001"; in_block = 0; next }
			in_block' "$file" |
			sed 's/\\&//g; s/\\-/-/g; s/\\(dq/"/g; s/\\(aq/'"'"'/g; s/\\(ti/~/g; s/\\(ha/^/g; s/\\e/\\/g'
		;;
	esac
}

run_one() { # COMMAND EXPECTED-LINES-FILE
	local command=$1 want=0 got=0
	if [[ $command =~ \#\ exit\ ([0-9]+)$ ]]; then
		want=${BASH_REMATCH[1]}
	fi
	if [ $list = yes ]; then
		printf '%s\n' "$command"
		return
	fi
	timeout 120 bash -c "$command" >.example.out 2>.example.err </dev/null || got=$?
	if [ "$got" -ne "$want" ]; then
		printf '%s: %s\nexit code %s, %s is due\n' "$file" "$command" "$got" "$want"
		head -c 2000 .example.out .example.err
		exit 1
	fi
	[ -s "$2" ] || return 0
	if ! awk 'function esc(s) { gsub(/[][\\.^$*+?(){}|]/, "\\\\&", s); return s }
		FNR == NR { want = want ($0 == "..." ? "(.*\n)?" : esc($0) "\n"); next }
		{ got = got $0 "\n" }
		END { exit got !~ "^" want "$" }' "$2" .example.out; then
		printf '%s: %s\nstandard output is not what the text shows:\n' "$file" "$command"
		diff -u "$2" .example.out | tail -n +3
		exit 1
	fi
}

command=
: >.example.want
finish() {
	[ -z "$command" ] || run_one "$command" .example.want
	command=
	: >.example.want
}
more=no
while IFS= read -r line; do
	if [ $more = yes ]; then
		command+=$'\n'$line
	elif [ "$line" = $'\001' ]; then
		finish
		continue
	elif [ "${line:0:2}" = '$ ' ]; then
		finish
		command=${line:2}
	else
		[ -z "$command" ] || printf '%s\n' "$line" >>.example.want
		continue
	fi
	more=no
	[[ $line != *\\ ]] || more=yes
done < <(blocks)
finish
rm -f .example.out .example.err .example.want
