#!/bin/sh
# Install with apt what the build and the tests need on Debian 12. Does nothing,
# quickly, when everything is there. Sources and mirrors are the machine's own.
set -eu

build='gcc make libc6-dev binutils libjansson-dev libxxhash-dev libzstd-dev zlib1g-dev'
emu='llvm-19-dev'
hip='hipcc libamdhip64-dev libhsa-runtime-dev rocm-device-libs libstdc++-12-dev'
kernels='clang-19 lld-19'
tests='perl python3 time bats jq xxd xxhash zstd xz-utils mandoc patch procps valgrind git'
lint='clang clang-format clang-tidy shellcheck'
# Only in newer suites, or what t/bench compares with; who wants them says so when they are missing.
optional='valgrind zsh oclgrind clang-22 lld-22 llvm-22-dev'

missing() {
	for p in "$@"; do
		case $(dpkg-query -W -f='${Status}' "$p" 2>/dev/null) in
		'install ok installed') ;;
		*) printf '%s ' "$p" ;;
		esac
	done
}

command -v dpkg-query >/dev/null || {
	echo 'deps: no dpkg here: install by hand what t/deps.sh names' >&2
	exit 2
}
# shellcheck disable=SC2086 # lists of names
need=$(missing $build $emu $hip $kernels $tests $lint)
# shellcheck disable=SC2086
want=$(missing $optional)
[ "${HRR_DEPS_OPTIONAL:-no}" = yes ] || want=
[ -n "$need$want" ] || exit 0

if [ "$(id -u)" = 0 ]; then
	root=
elif command -v sudo >/dev/null; then
	root=sudo
else
	echo "deps: not root and no sudo: as root, run: apt-get install $need$want" >&2
	exit 2
fi
$root apt-get update -q
known=
for p in $want; do
	apt-cache show "$p" >/dev/null 2>&1 && known="$known $p"
done
# shellcheck disable=SC2086
$root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $need $known
