# The programs of t/apps: right on the device under test, and honest without one.
load helper

apps() {
	local f
	for f in "$ROOT"/t/apps/*.hip "$ROOT"/t/apps/*.c; do
		f=${f##*/}
		case $f in
		modkern.* | bad_*) ;; # no program; wrong on purpose: 56-memcheck.bats
		*) echo "${f%.*}" ;;
		esac
	done
}

arguments() {
	case $1 in
	killme) echo 20 ;;
	esac
}

@test "programs: every one is right on the device" {
	local p ran=0
	[ "$DEVICE" != emu ] || need_emu
	need_apps saxpy
	for p in $(apps); do
		[ -x "$APPS/$p" ] || continue # no HSA headers
		# shellcheck disable=SC2046
		HRR_EMU_DEVICES=2 run_sep on_device "$APPS/$p" $(arguments "$p")
		echo "$p"
		[ "$status" -eq 77 ] || {
			status_is 0
			no_err
			out_like "^(segment 0x[0-9a-f]+ [0-9]+.)?$p: "
			ran=$((ran + 1))
		}
	done
	[ "$ran" -ge 20 ]
}

@test "programs: another seed is right too, and gives other outputs to record" {
	[ "$DEVICE" != emu ] || need_emu
	need_apps saxpy
	for p in saxpy structarg streams hostreg graphcap graphnodes graphsym modlaunch dlopen threads pitched symbols mapped managed polling pools ptds; do
		run_sep on_device "$APPS/$p" 5
		echo "$p"
		status_is 0
	done
}

@test "programs: without a GPU, on the run time of ROCm, one line and exit code 2" {
	local p
	need_apps saxpy
	[ ! -e /dev/kfd ] || skip 'there may be a GPU here'
	for p in $(apps); do
		# Debian's run time crashes while it registers a managed variable, before main.
		[ -x "$APPS/$p" ] && [ "$p" != managedvar ] || continue
		run_sep env -u LD_LIBRARY_PATH "$APPS/$p"
		echo "$p"
		status_is 2
		no_out
		[ "$(wc -l <.err)" -eq 1 ]
		err_like "^$p: no HIP device: hipError"
	done
}
