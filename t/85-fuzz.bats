# What is damaged is refused: a few seconds of t/fuzz, and what it once found
load helper

# An answer, and in time; not a signal, nor a sanitizer's report.
answers() {
	LIMIT=60 run_sep "$@"
	[ "$status" -le 2 ] || saw "exit code 0, 1 or 2 is due"
}

@test "hrr-play: what damaged archives once broke" {
	need_emu
	need_prog hrr-play
	local a n=0
	for a in "$ROOT"/t/data/fuzz/found/*; do
		[ -e "$a" ] || saw "$a is missing"
		n=$((n + 1))
		HRR_EMU_BUDGET=3000000 HRR_EMU_MEMORY=268435456 answers hrr-play -d emu --watchdog 10 "$a"
		HRR_EMU_BUDGET=3000000 HRR_EMU_MEMORY=268435456 answers hrr-play -k -d emu --watchdog 10 "$a"
	done
	[ "$n" -gt 0 ]
}

@test "hrr-play: an object whose headers say more than there is" {
	need_emu
	need_prog hrr-play
	run_sep hrr-play -d emu "$ROOT/t/data/fuzz/found/object-cut-short.hrr"
	status_is 1
	err_has "is no code object: offload bundle: an entry reaches out of the bundle"
}

@test "hrr-play: an object that claims a gigabyte of memory gets no more than the device has" {
	need_emu
	need_prog hrr-play
	[ -x /usr/bin/time ] || lacking "no time"
	HRR_EMU_MEMORY=268435456 run_sep /usr/bin/time -f '%M KiB' hrr-play -d emu "$ROOT/t/data/fuzz/found/object-large-image"
	status_is 1
	err_has "cannot be loaded on device 0: hipErrorOutOfMemory"
	[ -n "${HRR_T_ASAN:-}" ] || [ "$(sed -n 's/ KiB$//p' .err)" -lt 500000 ]
}

@test "hrr-play: null where a handle has to be" {
	need_emu
	need_prog hrr-play
	run_sep hrr-play -k -d emu "$ROOT/t/data/fuzz/found/null-handles.hrr"
	status_is 1
	err_has "executable 0x0 was not instantiated"
}

@test "hrr-play: what an archive asks of the host's memory is bounded" {
	need_emu
	need_prog hrr-play hrr-capture
	need_apps mapped
	hrr-capture -q -d emu -o a.hrr -- mapped
	sed -E 's/("api":"hipHostMalloc","args":\{"ptr":"[^"]*","size":)[0-9]+/\1200000000/' a.hrr/pid-*/events.jsonl >events
	run_sep hrr-play -d emu --max-host-bytes 100000000 -b a.hrr/blobs events
	[ "$status" -ne 0 ]
	err_has "hipHostMalloc: 200000000 bytes of host memory: 0 are in use, the limit is 100000000"
	run_sep hrr-play -d emu --max-host-bytes 1000 a.hrr
	[ "$status" -ne 0 ]
	err_has "of host memory: 0 are in use, the limit is 1000"
}

@test "hrr-play: the archive that is damaged below plays as it is" {
	need_emu
	need_prog hrr-play
	run_sep hrr-play -d emu "$ROOT/t/data/fuzz/play/symbols.hrr"
	status_is 0
	err_has "2 compared of 2: 2 exact"
}

@test "hrr-play answers on damaged archives" {
	need_emu
	need_prog hrr-play
	mkdir build
	ln -s "$BUILD/bin" "$BUILD/lib" build
	run_sep env BUILD="$T/build" FUZZ_APPS= FUZZ_SEED=1 FUZZ_RUNS=60 FUZZ_SECONDS=8 \
		CC="${CC:-cc}" sh "$ROOT/t/fuzz/play.sh"
	status_is 0
	out_like 'play: [1-9][0-9]* archives: .* 0 wrong'
}

@test "the driver tells an answer from a crash" {
	need_emu
	mkdir -p build/bin
	ln -s "$BUILD/lib" build
	printf '#include <signal.h>\nint main(int n, char **v) { return v[n - 1][0] ? raise(SIGSEGV) : 7; }\n' >crash.c
	${CC:-cc} -o build/bin/hrr-play crash.c
	local server
	for server in yes ''; do
		run_sep env BUILD="$T/build" FUZZ_APPS= FUZZ_SEED=1 FUZZ_RUNS=1 CC="${CC:-cc}" FUZZ_SERVER=$server \
			sh "$ROOT/t/fuzz/play.sh"
		status_is 1
		err_is "play: seed 1: signal 11"
		[ -s build/fuzz/play/1.jsonl ]
		rm -r build/fuzz/play
	done
}

# reader NAME RUNS FILE...: the harness, compiled without libFuzzer, over each file and RUNS
# changes of it.
reader() {
	local san='' wrap isa=
	[ -z "${HRR_T_ASAN:-}" ] || san=-fsanitize=address,undefined
	wrap=$(cat "$ROOT/t/fuzz/memfile.ld")
	[ "$1" != descriptor ] || isa=$(echo "$BUILD"/obj/lib/emu/isa/*.o)
	# shellcheck disable=SC2086 # options
	(cd "$ROOT" && ${CC:-cc} -std=c11 -g -D_GNU_SOURCE $san -I. -I"$BUILD/gen" -o "$T/$1" "t/fuzz/$1.c" \
		t/fuzz/once.c t/fuzz/memfile.c $wrap $isa "$BUILD/lib/libhrr.a" -ljansson -lxxhash -lzstd -lz -ldl -lpthread -lm)
	run_sep "./$1" "${@:2}"
	status_is 0
	out_like '^[0-9]{3,} inputs$'
}

@test "readers of upstream archives, snapshots, code objects, descriptors and arguments take what comes" {
	reader hrr 200 "$ROOT"/t/data/hrr/*/pid-*/events.bin "$ROOT"/t/data/hrr/*/pid-*/regions/*
	reader torch 100 "$ROOT"/t/data/torch/*.pickle
	reader codeobj 300 "$ROOT"/t/data/codeobj/*.co
	reader bundle 300 "$ROOT"/t/data/codeobj/*.ccob
	reader metadata 2000 "$ROOT"/t/data/fuzz/metadata/*
	reader descriptor 2000 "$ROOT"/t/data/fuzz/descriptor/*
	reader args 2000 "$ROOT"/t/data/fuzz/args/*
	reader region 300 "$ROOT"/t/data/streams/small/pid-4242/events.jsonl
}

@test "records, selectors, an archive's files and the writers take what comes" {
	local w
	for w in record select sidecar manifest write; do
		reader "$w" 500 "$ROOT/t/data/fuzz/$w"/*
	done
}
