#!/bin/sh
# What the tests exercise of the instruction table, per arch: make isa-coverage.
# BUILD is what was built; with "missing" as argument each name that no test met.
set -eu
: "${BUILD:=build/gcc}"
export BUILD
for t in isa isa_ops isa_modes isa_memory isa_state isa_matrix isa_more isa_lanes; do
	"$BUILD/t/unit/$t" >/dev/null 2>&1 || echo "coverage: $t failed" >&2
done
"$BUILD/t/unit/isa_coverage" "${1:-print}"
