#!/bin/sh
# What the shared objects export, against formats/hip.api: one line per name
# that is missing or too many, exit 1 when there is one. BUILD is what was built.
set -u
: "${BUILD:?}"
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
wrong=0

# Functions an object defines for others, versions cut off.
defined() {
	nm -D --defined-only "$1" | awk '$2 ~ /^[TWi]$/ { sub(/@.*/, "", $3); print $3 }' | sort -u
}

# compare OBJECT WANTED-FILE
compare() {
	defined "$1" >"$tmp/have"
	sort -u "$2" >"$tmp/want"
	comm -13 "$tmp/have" "$tmp/want" | sed "s|^|${1##*/}: not exported: |" >"$tmp/diff"
	comm -23 "$tmp/have" "$tmp/want" | sed "s|^|${1##*/}: exported and not in hip.api: |" >>"$tmp/diff"
	if [ -s "$tmp/diff" ]; then
		cat "$tmp/diff"
		wrong=1
	fi
}

hrr=$BUILD/lib/hrr
if [ -e "$hrr/libhrr-preload.so" ]; then
	# And the HSA calls by which memory appears that HIP never sees, and the marks of roctx.
	{
		cat "$BUILD/gen/preload_names.txt"
		defined "$hrr/libhrr-preload.so" | grep -E '^hsa_(amd_)?memory_'
		printf 'roctx%s\n' MarkA RangePushA RangePop RangeStartA RangeStop
		# And what a process ends by, starts another with, or goes away by.
		printf '%s\n' _exit _Exit quick_exit daemon execve execv execvp execvpe execl execlp \
			execle fexecve execveat posix_spawn posix_spawnp \
			chroot unshare setns setuid seteuid setreuid setresuid
	} >"$tmp/names"
	compare "$hrr/libhrr-preload.so" "$tmp/names"
fi
for so in "$hrr"/emu/libamdhip64.so.[0-9]*; do
	[ -e "$so" ] || continue
	sed -n 's/^STANDIN(\([^,]*\), [^,]*, \([0-9]*\))$/\2 \1/p' "$BUILD/gen/emu_names.inc" |
		awk -v m="${so##*.}" '$1 <= m { print $2 }' >"$tmp/names"
	compare "$so" "$tmp/names"
done
# Every function of the machine's own run time is a row.
for so in /usr/lib/x86_64-linux-gnu/libamdhip64.so.5 /opt/rocm/lib/libamdhip64.so; do
	[ -e "$so" ] || continue
	defined "$so" | grep -E '^(_*hip|_Z[0-9]*N?[0-9]*hip)' | grep -v '^_ZT' >"$tmp/real"
	sed -n 's/^STANDIN(\([^,]*\), .*/\1/p' "$BUILD/gen/emu_names.inc" | sort -u >"$tmp/rows"
	comm -23 "$tmp/real" "$tmp/rows" | sed "s|^|$so: no row in hip.api: |" >"$tmp/diff"
	if [ -s "$tmp/diff" ]; then
		cat "$tmp/diff"
		wrong=1
	fi
done
# One name, one thing: the linker takes whichever it meets first in the library.
twice=$(nm -g --defined-only "$BUILD/lib/libhrr.a" 2>/dev/null | awk '$2 ~ /^[TDBRC]$/ { print $3 }' | sort | uniq -d)
if [ -n "$twice" ]; then
	echo "libhrr.a: defined twice: $twice"
	wrong=1
fi
exit $wrong
