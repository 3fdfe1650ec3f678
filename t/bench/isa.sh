#!/bin/sh
# The CPU run time: wave-instructions a second of five kernels, what checking costs,
# two cores, launches, a big code object, and the same kernels under Oclgrind.
# Rates of one core are of processor time, so that a busy machine says nearly what an idle
# one does; two cores are by the clock. Nothing here asserts a time.
set -eu
: "${BUILD:?}"
root=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
kernels='saxpy matmul reduce mandelbrot transpose'
need() { echo "isa: no $1: $2" && exit 0; }

command -v hipcc >/dev/null || need hipcc 'nothing is measured'
hipcc --offload-arch=gfx90a -O3 -std=c++17 -I"$root" -I"$root/t/apps" -o "$tmp/isa" "$root/t/bench/isa.hip" -ldl 2>"$tmp/log" ||
	{ cat "$tmp/log" && exit 1; }
checked=$BUILD/lib/hrr/emu
unchecked=$BUILD/bench/hrr/emu

# one DIR THREADS KERNEL [N]: name, wave-instructions, ns by the clock, ns of processor time
one() { LD_LIBRARY_PATH=$1 HRR_EMU_THREADS=$2 "$tmp/isa" "$3" "${4:-9}"; }
# of FILE KERNEL COLUMN: the least of what was measured
of() { awk -v k="$2" -v c="$3" '$1 == k && (m == "" || $c < m) { m = $c } END { print m }' "$1"; }

for _ in 1 2 3; do
	for k in $kernels; do
		one "$checked" 1 "$k" >>"$tmp/checked"
		one "$unchecked" 1 "$k" >>"$tmp/unchecked"
		one "$checked" 2 "$k" >>"$tmp/two"
		HRR_EMU_SIMD=avx2 one "$checked" 1 "$k" >>"$tmp/avx2"
	done
done
rate() { awk -v i="$(of "$1" "$2" 2)" -v ns="$(of "$1" "$2" "$3")" 'BEGIN { printf "%.1f", i * 1e3 / ns }'; }
for k in $kernels; do
	case $k in
	saxpy) due=50 ;; matmul) due=45 ;; reduce) due=120 ;; mandelbrot) due=100 ;; *) due=40 ;;
	esac
	awk -v k="$k" -v r="$(rate "$tmp/checked" "$k" 4)" -v a="$(rate "$tmp/avx2" "$k" 4)" -v due="$due" \
		-v on="$(of "$tmp/checked" "$k" 4)" -v off="$(of "$tmp/unchecked" "$k" 4)" \
		-v w1="$(of "$tmp/checked" "$k" 3)" -v w2="$(of "$tmp/two" "$k" 3)" 'BEGIN {
		printf "%-10s %6.1f M wave-instructions/s (due: %d), %.1f with AVX2 only; checking %+.1f %%; two cores %.2f times\n",
			k, r, due, a, 100 * (on / off - 1), w1 / w2 }'
done
# shellcheck disable=SC2046 # four words
set -- $(one "$checked" 1 launch 20000)
echo "empty launch: $(awk -v c="$4" -v w="$3" 'BEGIN { printf "%.2f us of processor time, %.2f us by the clock", c / 1e3, w / 1e3 }')"

if command -v clang-15 >/dev/null; then
	awk -v n=10000 -f "$root/t/bench/isa_many.awk" >"$tmp/many.s"
	clang-15 -target amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib -x assembler "$tmp/many.s" -o "$tmp/many.co"
	for _ in 1 2 3 4 5; do
		LD_LIBRARY_PATH=$checked "$tmp/isa" first "$tmp/many.co" k9999
	done >"$tmp/first"
	echo "first launch out of 10000 kernels: $(awk -v w="$(of "$tmp/first" first 3)" -v c="$(of "$tmp/first" first 4)" \
		'BEGIN { printf "%.1f ms by the clock, %.1f ms of processor time (due: 50)", w / 1e6, c / 1e6 }')"
fi

# --- Oclgrind: the same kernels, of processor time, its start taken off -----------------
command -v oclgrind-kernel >/dev/null || need oclgrind 'not compared with it (HRR_DEPS_OPTIONAL=yes make deps)'
cp "$root/t/bench/isa.cl" "$tmp"
seconds() {
	(cd "$tmp" && bash -c 'TIMEFORMAT="%U %S"; time oclgrind-kernel --num-threads 1 "$1" >/dev/null 2>&1' x "$1") 2>&1 |
		awk '{ print $1 + $2 }'
}
# rival KERNEL PART GLOBAL LOCAL ARGUMENT...: PART of the work that isa.hip does
rival() {
	k=$1 part=$2 global=$3 local=$4
	shift 4
	{ printf 'isa.cl\n%s\n%s\n%s\n' "$k" "$global" "$local" && printf '%s\n' "$@"; } >"$tmp/work.sim"
	{ printf 'isa.cl\n%s\n%s\n%s\n' "$k" "$local" "$local" && printf '%s\n' "$@"; } >"$tmp/start.sim"
	awk -v k="$k" -v t="$(seconds work.sim)" -v s="$(seconds start.sim)" -v part="$part" \
		-v ours="$(of "$tmp/checked" "$k" 4)" 'BEGIN {
		t -= s
		printf "%-10s Oclgrind takes %.0f times as long (due: 20)\n", k, t / part / (ours / 1e9) }'
}
rival saxpy 0.125 '131072 1 1' '256 1 1' '<size=4 float> 2' '<size=524288 float fill=1>' '<size=524288 float fill=2>' '<size=4 int> 131072'
rival matmul 0.0625 '64 64 1' '16 16 1' '<size=262144 float fill=1>' '<size=262144 float fill=2>' '<size=262144 float fill=0>' '<size=4 int> 256'
rival reduce 0.0625 '65536 1 1' '256 1 1' '<size=262144 float fill=1>' '<size=1024 float fill=0>'
rival mandelbrot 0.015625 '64 64 1' '64 1 1' '<size=16384 int fill=0>' '<size=4 int> 64' '<size=4 int> 256'
rival transpose 0.0625 '256 64 1' '32 8 1' '<size=262144 float fill=1>' '<size=262144 float fill=0>' '<size=4 int> 256'
