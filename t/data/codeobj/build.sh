#!/bin/sh
# Makes the fixtures of this folder again, with clang and lld 19, and with 22 for
# code object v6. They are kept in git, so that the tests need no compiler; make
# none of them by hand.
set -eu
cd "$(dirname "$0")"
cc() {
	out=$1
	shift
	"${CLANG:-clang-19}" -x hip --cuda-device-only -nogpulib -nogpuinc -O1 "$@" kernels.hip -o "$out"
}
lines="-gline-tables-only -ffile-prefix-map=$PWD=/src"
# shellcheck disable=SC2086 # words, not one argument
cc gfx90a-v4.co --no-gpu-bundle-output --offload-arch=gfx90a:xnack- -mcode-object-version=4 $lines -gdwarf-4
cc gfx942-v5.co --no-gpu-bundle-output --offload-arch=gfx942 -mcode-object-version=5
# shellcheck disable=SC2086
cc gfx1100-v5.co --no-gpu-bundle-output --offload-arch=gfx1100 -mcode-object-version=5 $lines -gdwarf-5
cc two.ccob --offload-arch=gfx90a:xnack+ --offload-arch=gfx1030 --gpu-bundle-output --offload-compress
CLANG=clang-22
cc v6.ccob --offload-arch=gfx950 --offload-arch=gfx11-generic --gpu-bundle-output --offload-compress
chmod 644 ./*.co ./*.ccob
