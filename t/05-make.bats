# make: its help, installing and going again, testing on what is not there.
load helper

# -o all: what is built is taken as it is, whatever flags it was built with.
in_tree() {
	env -u MAKEFLAGS -u MAKEOVERRIDES -u MFLAGS make -s -o all -o units -o apps -C "$ROOT" BUILD="$BUILD" "$@"
}

@test "make help: every target that is meant to be called, and none else" {
	cat "$ROOT/Makefile" "$ROOT/t/test.mk" "$ROOT/t/apps/apps.mk" |
		sed -n '/^\.PHONY: all/s/^\.PHONY: //p' | tr ' ' '\n' | grep -vx help | sort >targets
	[ "$(wc -l <targets)" -gt 10 ]
	in_tree help | grep -v '^settings' | sed 's/^[a-z]*: *//; s/([^)]*)//g' | tr -s ' ' '\n' | sed '/^$/d' | sort >told
	diff targets told
}

@test "make install: into a path with a blank, and uninstall leaves no file" {
	local to="$T/a tree" p
	in_tree install DESTDIR="$to" PREFIX=/usr
	for p in "$to"/usr/bin/hrr-*; do
		"$p" --version >>versions
	done
	[ "$(wc -l <versions)" -ge 5 ]
	for p in "$ROOT"/man/*.[157]; do
		cmp "$p" "$to/usr/share/man/man${p##*.}/${p##*/}"
	done
	[ -s "$to/usr/share/bash-completion/completions/hrr-cat" ]
	[ -s "$to/usr/share/zsh/site-functions/_hrr" ]
	in_tree uninstall DESTDIR="$to" PREFIX=/usr
	find "$to" ! -type d >left
	diff /dev/null left
	# again: nothing there is nothing wrong
	in_tree uninstall DESTDIR="$to" PREFIX=/usr
}

@test "hrr-capture: from a folder with a blank it says that the loader cannot" {
	in_tree install DESTDIR="$T/a tree" PREFIX=/usr
	run_sep "$T/a tree/usr/bin/hrr-capture" -- true
	status_is 125
	err_like 'a tree/usr/lib/hrr/libhrr-preload.so: cannot be preloaded: the loader splits at spaces and colons'
	no_out
}

@test "make install: the programs find what they need in the tree they lie in" {
	need_apps saxpy
	need_emu
	[ -z "${HRR_T_ASAN:-}" ] || skip "t/wrap is for the programs of the build"
	in_tree install DESTDIR="$T/tree" PREFIX=/usr
	mkdir "a place"
	PATH=$T/tree/usr/bin:$PATH
	hash -r
	hrr-capture -q -d emu -o "a place/run.hrr" -- "$APPS/saxpy"
	hrr-play -q -d emu "a place/run.hrr"
	hrr-regions lint "a place/run.hrr"
	[ "$(hrr-cat -c -e @launch "a place/run.hrr")" = 1 ]
}

@test "make test DEVICE=rocm: without a GPU one line says so; other devices there are none" {
	need_apps saxpy
	[ ! -e /dev/kfd ] || skip 'there may be a GPU here'
	run_sep in_tree test DEVICE=rocm TESTS=t/01-tree.bats
	status_is 2
	no_out
	err_like '^test: DEVICE=rocm: no GPU to test on: saxpy: no HIP device: hipError[A-Za-z]+
make(\[[0-9]+\])?: '
	run_sep in_tree test DEVICE=cuda TESTS=t/01-tree.bats
	status_is 2
	no_out
	err_has 'test: DEVICE is emu or rocm, not cuda'
}
