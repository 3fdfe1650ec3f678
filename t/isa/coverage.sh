#!/bin/sh
# What the tests exercise of the instruction table, and what code objects at hand hold of it, per
# arch: make isa-coverage. BUILD is what was built; with "missing" as argument each name that no
# test met. CORPUS: more files and folders with code objects, blobs and recordings too.
set -eu
: "${BUILD:=build/gcc}" "${CORPUS:=}" "${HIPCC:=hipcc}"
export BUILD
for c in $CORPUS; do
	[ -r "$c" ] || { echo "coverage: cannot read $c" >&2; exit 2; }
done
rm -f "$BUILD"/t/isa/met-*.txt
for t in "$BUILD"/t/unit/isa "$BUILD"/t/unit/isa_*; do
	case $t in *.* | */isa_coverage) continue ;; esac
	[ ! -x "$t" ] || "$t" >/dev/null 2>&1 || echo "coverage: ${t##*/} failed" >&2
done

# The programs of t/apps for the other archs: their device code, kept between runs.
dir=$BUILD/t/isa/apps
mkdir -p "$dir"
echo '__attribute__((global)) void k() {}' >"$dir/probe.hip"
for arch in gfx942 gfx950 gfx1030 gfx1100 gfx1201; do
	if ! "$HIPCC" --genco "--offload-arch=$arch" -o "$dir/probe" "$dir/probe.hip" >/dev/null 2>&1; then
		echo "coverage: $HIPCC does not build for $arch: t/apps left out there" >&2
		continue
	fi
	for src in t/apps/*.hip; do
		to=$dir/$arch-$(basename "$src" .hip).hsaco
		[ -n "$(find "$to" -newer "$src" 2>/dev/null)" ] ||
			"$HIPCC" --genco "--offload-arch=$arch" -O3 -w -It/apps -o "$to" "$src" 2>/dev/null ||
			echo "coverage: $src: does not build for $arch" >&2
	done
done

{
	find "$BUILD/t/apps" "$dir" -type f 2>/dev/null || :
	# kernels of t/isa alone: what else lies there was written to hold every name
	for src in t/isa/*.hip; do
		find "$BUILD/t/isa" -maxdepth 1 -name "$(basename "$src" .hip)-*.co"
	done
	# shellcheck disable=SC2086 # a list
	[ -z "$CORPUS" ] || find $CORPUS -type f
} | "$BUILD/t/unit/isa_coverage" "${1:-print}"
