#!/bin/bash
# What a user would type, step by step, in a new folder. Any step that does not
# answer as it should ends the demo with exit code 1.
set -u -o pipefail
: "${BUILD:?}"
src=$PWD/t/apps
dir=$(mktemp -d /tmp/hrr-demo.XXXXXX) || exit 2
cd "$dir" || exit 2
trap 'rm -rf "$dir"' EXIT
cp "$src/saxpy.hip" "$src/app.h" .
PATH=$BUILD/bin:$PATH

# step WHAT EXIT-CODE COMMAND
step() {
	local code=0
	printf '\n# %s\n$ %s\n' "$1" "$3"
	bash -o pipefail -c "$3" || code=$?
	[ "$code" -eq "$2" ] || {
		echo "demo: that should have exited with $2, not $code" >&2
		exit 1
	}
}

step 'A HIP program, built for a GPU this machine does not have.' 0 \
	'hipcc --offload-arch=gfx90a -O3 -o saxpy saxpy.hip'
step 'It runs on the CPU run time and is recorded.' 0 \
	'hrr-capture -d emu -o run.hrr -- ./saxpy'
step 'The recording is lines of JSON: which calls were made?' 0 \
	"hrr-cat run.hrr | jq -r 'select(.seq) | .api' | sort | uniq -c | sort -rn"
step 'What did the kernel get?' 0 \
	"hrr-cat -e hipLaunchKernel run.hrr | jq -c '.kernel // empty | {name, grid, block, args}'"
step 'Every output of the replay is compared with the recorded one, byte for byte.' 0 \
	'hrr-play -d emu run.hrr'
step 'The same through a pipe.' 0 \
	'hrr-cat run.hrr | hrr-play -d emu -'
step 'An argument changed on purpose (2.0 becomes 2.5): replay says where it shows.' 1 \
	"hrr-cat run.hrr | sed 's/\"hex\":\"00000040\"/\"hex\":\"00002040\"/' | hrr-play -d emu -"
step 'The program recorded again: the two runs did the same.' 0 \
	'hrr-capture -d emu -o again.hrr -- ./saxpy && hrr-diff run.hrr again.hrr'
step 'And with another input: the first call that differs, then the bytes.' 1 \
	'hrr-capture -d emu -o other.hrr -- ./saxpy 3 && hrr-diff run.hrr other.hrr'
if [ -e "$BUILD/t/apps/hsapool_copy" ]; then
	cp "$BUILD/t/apps/hsapool_copy" .
	step 'A program with memory from HSA, which HIP never saw and replay does not know.' 0 \
		'hrr-capture -d emu -o pool.hrr -- ./hsapool_copy | tee pool.out'
	step 'Replay says which address it lacks.' 1 \
		'hrr-play -d emu pool.hrr'
	step 'Written down beside the recording, it is backed on first touch.' 0 \
		"hrr-regions add -a pool.hrr --kind segment \$(awk '/^segment/ { print \"--base\", \$2, \"--size\", \$3 }' pool.out)"
	step 'And the replay is exact.' 0 \
		'hrr-play -d emu pool.hrr'
fi
printf '\ndemo: every step answered as it should\n'
