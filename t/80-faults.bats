# Failing systems: one call at a time fails, in every program (t/faults.sh; `make check-faults` for
# every call and error). And what may come out of a file, a folder or a pipe that fails.
load helper

faults() {
	need_emu
	need_prog hrr-capture hrr-cat hrr-diff hrr-play hrr-regions
	LIMIT=600 run_sep env BUILD="$BUILD" CC="${CC:-cc}" FAULTS_KINDS="$1" bash "$ROOT/t/faults.sh" -q "${@:2}"
	status_is 0
	out_like '[1-9][0-9]+ faults, 0 wrong'
}

@test "hrr-cat: a failing call leaves nothing half done and is said" {
	faults 'open read write mkdir close sync rename stat list' cat_o cat_hrr8 cat_pack cat_unpack cat_print cat_foreign
}

@test "hrr-regions: a failing call leaves the sidecar as it was" {
	faults 'open read write mkdir sync rename' regions_new regions_more
}

@test "hrr-diff and hrr-play: a failing call is trouble, never an answer" {
	faults 'open read list' diff diff_equal play_r
}

@test "hrr-capture: a failing call never makes an archive that looks whole" {
	faults 'open write mkdir mmap' capture program
}

@test "the loop tells a program that loses something" {
	mkdir bin
	for p in hrr-regions hrr-play hrr-capture; do ln -s "$BUILD/bin/$p" bin; done
	# reads a folder only as far as it goes
	printf '#!/bin/sh\n"%s/bin/hrr-cat" "$@" 2>/dev/null\nexit 0\n' "$BUILD" >bin/hrr-cat
	chmod +x bin/hrr-cat
	ln -s "$BUILD/lib" lib
	ln -s "$BUILD/gen" gen
	LIMIT=300 run_sep env BUILD="$T" CC="${CC:-cc}" FAULTS_KINDS=open bash "$ROOT/t/faults.sh" -q cat_print
	status_is 1
	out_has "exit code 0, but standard output is another"
}
