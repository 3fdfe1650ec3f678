#!/bin/sh
# Writes OUT/hrr.bash and OUT/_hrr (zsh) out of what the programs say of themselves with -h and of
# the tables that formats/gen.awk wrote: options, what they take, sub-commands, names of calls.
#   gen.sh BIN GEN OUT
set -eu
bin=$1 gen=$2 out=$3
here=$(dirname "$0")
mkdir -p "$out"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
names=$(sort -u "$gen/preload_names.txt" | tr '\n' ' ')
families=$({
	awk '/hrr_class_names\[/ { on = 1; next } on && /}/ { exit } on { gsub(/[",\t ]/, ""); print "@" $0 }' "$gen/hip_table.inc"
	awk -F'"' '/^\t{/ { print "@" $2 }' "$gen/stream_families.h"
} | sort -u | tr '\n' ' ')

# option<TAB>what it takes<TAB>what it is for; and "command<TAB>NAME" for sub-commands
for p in "$bin"/hrr-*; do
	"$p" -h | awk -v prog="${p##*/}" -f "$here/options.awk" >"$tmp/${p##*/}"
done
{
	echo '# Completion for bash of hrr-capture, hrr-cat, hrr-diff, hrr-play and hrr-regions. Generated.'
	for p in "$tmp"/hrr-*; do
		f=${p##*/}
		v=$(echo "$f" | tr - _)
		echo "_${v}_options='$(awk -F'\t' '$1 ~ /^-/ { printf "%s ", $1 }' "$p")'"
		echo "_${v}_takes='$(awk -F'\t' '$1 ~ /^-/ && $2 != "" { printf "%s:%s ", $1, $2 }' "$p")'"
		echo "_${v}_commands='$(awk -F'\t' '$1 == "command" { printf "%s ", $2 }' "$p")'"
	done
	echo "_hrr_calls='$names'"
	echo "_hrr_families='$families'"
	cat "$here/bash.in"
} >"$out/hrr.bash"
{
	echo '#compdef hrr-capture hrr-cat hrr-diff hrr-play hrr-regions'
	echo '# Completion for zsh. Generated.'
	echo 'local -a calls families options commands'
	echo "calls=($names)"
	echo "families=($families)"
	# shellcheck disable=SC2016 # of zsh
	echo 'case $service in'
	for p in "$tmp"/hrr-*; do
		echo "${p##*/})"
		awk -F'\t' -v q="'" '
			$1 == "command" { commands = commands " " $2; next }
			{
				gsub(/\[|\]|:|\\/, "\\\\&", $3)
				gsub(q, q "\\" q q, $3)
				action = ""
				if ($2 != "")
					action = ":" $2 ":->" $2
				long = substr($1, 1, 2) == "--" && $2 != "" ? "=" : ""
				printf "\toptions+=(%s*%s%s[%s]%s%s)\n", q, $1, long, $3, action, q
			}
			END { printf "\tcommands=(%s)\n\t;;\n", commands }' "$p"
	done
	echo 'esac'
	cat "$here/zsh.in"
} >"$out/_hrr"
