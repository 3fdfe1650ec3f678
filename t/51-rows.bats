#!/usr/bin/env bats
# Calls by their rows of formats/hip.api: those Debian's HIP has no prototype of are made by
# t/stub/late on the CPU run time's HIP 7, recorded, and replayed on its HIP 5.
load helper

setup_file() {
	export LATE=$BATS_FILE_TMPDIR/late
	${CC:-cc} -std=gnu11 -O1 -I"$BUILD/gen" -o "$LATE" "$ROOT/t/stub/late.c" -ldl
}

events() { cat a.hrr/pid-*/events.jsonl; }

# late SUBJECT [MAJOR]: recorded, and replayed byte for byte. $calls: what it called.
late() {
	need_emu
	need_prog hrr-capture hrr-play
	need_apps modkern.hsaco
	run_sep hrr-capture -q -d emu -o a.hrr -- "$LATE" "libamdhip64.so.${2:-7}" "$APPS/modkern.hsaco" "$1"
	status_is 0
	no_err
	[ "$(events | tail -1 | jq -c '[.end,.lost,.notRecorded]')" = '["complete",0,{}]' ] || return 1
	calls=$(events | jq -r 'select(.seq).api' | sort -u | tr '\n' ' ')
	run_sep hrr-play -d emu a.hrr
	status_is 0
	err_has "Verdict : matched"
}

@test "rows: launches with attributes" {
	late launch
	[[ $calls == *hipDrvLaunchKernelEx* ]]
	[ "$(events | jq -c 'select(.api=="hipDrvLaunchKernelEx").args.config|[.numAttrs,(.attrs|arrays|map(.id))]' | tr '\n' ' ')" = \
		'[2,["hipLaunchAttributePriority","hipLaunchAttributeCooperative"]] [0] ' ]
	# An array with fewer elements than its count says is not followed.
	sed -i 's/"numAttrs":2/"numAttrs":3/' a.hrr/pid-*/events.jsonl
	run_sep hrr-play -d emu a.hrr
	status_is 1
	err_has "argument config.attrs: 2 elements, but 3 are needed"
}

@test "rows: graph nodes by their type are the calls for nodes of that type" {
	late nodes
	[ "$(events | jq -r 'select(.ret==null and (.api|tostring|test("^hipGraph.*(Add|Set)"))).api' | tr '\n' ' ')" = \
		"hipGraphAddMemAllocNode hipGraphAddMemsetNode hipGraphAddChildGraphNode hipGraphAddEmptyNode hipGraphAddMemcpyNode hipGraphAddKernelNode hipGraphAddMemcpyNode hipGraphAddEventRecordNode hipGraphAddMemFreeNode hipGraphKernelNodeSetParams hipGraphExecKernelNodeSetParams " ]
	[ "$(events | jq -c 'select(.api=="hipGraphExecKernelNodeSetParams").kernel.args[1].hex')" = '"0000a040"' ]
	# What is no node of a known type stands as it was called.
	[ "$(events | jq -r 'select(.api=="hipGraphAddNode").ret' | tr '\n' ' ')" = "hipErrorNotSupported hipErrorInvalidValue " ]
	# One that succeeded is refused by name.
	sed -i '/"api":"hipGraphAddNode"/s/,"ret":"hipErrorNotSupported"//' a.hrr/pid-*/events.jsonl
	run_sep hrr-play -d emu a.hrr
	status_is 1
	err_has "hipGraphAddNode: cannot be replayed: a graph node of a type without a recorded call of its own"
}

@test "rows: launches on several devices by function handles" {
	export HRR_EMU_DEVICES=2
	late multi
	[[ $calls == *hipModuleLaunchCooperativeKernelMultiDevice* ]]
	[ "$(events | jq -c 'select(.kernels)|[.kernels[].name]')" = '["scale","scale"]' ]
}

@test "rows: launches in clusters are refused by name" {
	late launch
	sed -i 's/hipLaunchAttributePriority","val":"01/hipLaunchAttributeClusterDimension","val":"02/' a.hrr/pid-*/events.jsonl
	run_sep hrr-play -d emu a.hrr
	status_is 1
	err_has "hipDrvLaunchKernelEx: launches in clusters are not replayed"
}

@test "rows: what does nothing to the device is counted apart and blocks no verdict" {
	late aside
	[ "$(events | tail -1 | jq -c .aside)" = '{"hiprtcVersion":2,"hipUserObjectCreate":1}' ]
}

@test "rows: managed variables: what was there, what the host put there, what kernels wrote" {
	need_emu
	need_apps managedvar
	run_sep hrr-capture -q -d emu -o a.hrr -- "$APPS/managedvar"
	status_is 0
	[ "$(events | tail -1 | jq -r .end)" = complete ]
	[ "$(events | jq -c 'select(.api=="__hipRegisterManagedVar")|[.args.name,(.args.pointer==.host[0].addr),.host[0].size]' | tr '\n' ' ')" = \
		'["count",true,4] ["table",true,256] ' ]
	[ "$(events | jq -c 'select(.kernel)|.host|map(.size)|sort' | sort -u)" = '[4,256]' ]
	[ "$(events | jq -c 'select(.output).size' | sort -n | tr '\n' ' ')" = '4 256 ' ]
	run_sep hrr-play -d emu a.hrr
	status_is 0
	err_has "Verdict : matched: 2 outputs compared, all exact"
	# What the host wrote before the launch is what makes them right.
	sed -i '/"kernel"/s/,"host":\[[^]]*\]//' a.hrr/pid-*/events.jsonl
	run_sep hrr-play -d emu a.hrr
	status_is 1
	err_has "2 differ"
	run_sep hrr-capture -q -d emu --host-memory off -o b.hrr -- "$APPS/managedvar"
	status_is 0
	[ "$(cat b.hrr/pid-*/events.jsonl | grep -c '"host":')" = 0 ]
}

@test "rows: arrays: copies of bytes, rows and boxes from and to them" {
	late array
	for c in hipArrayCreate hipArrayDestroy hipDrvMemcpy3D hipFreeArray hipMallocArray hipMemcpy2DArrayToArray \
		hipMemcpy2DFromArray hipMemcpy2DToArray hipMemcpyAtoHAsync hipMemcpyDtoA hipMemcpyHtoA hipMemcpyParam2D; do
		[[ $calls == *"$c "* ]] || { echo "no $c"; return 1; }
	done
	err_has "6 outputs compared, all exact"
	[ "$(events | jq -c 'select(.api=="hipMemcpy3D")|[.dir,(.blobs.src|length)]')" = '["h2d",39]' ]
	run_sep hrr-play -d "$BUILD/lib/hrr/emu/libamdhip64.so.7" a.hrr
	status_is 0
	err_has "Placement : 1 at the recorded address, 0 elsewhere"
	# An array of the archive that was never made is no array here.
	sed -i '/"hipMallocArray"/d' a.hrr/pid-*/events.jsonl
	run_sep hrr-play -k -d emu a.hrr
	status_is 1
	err_has "hipMemcpy2DToArray"
}

@test "rows: structures are read as the run time's major lays them out" {
	local m
	need_cmd jq
	for m in 5 6 7; do
		late layouts "$m"
		events | jq -c 'select(.api=="hipMemCreate" or .api=="hipMemGetAllocationPropertiesFromHandle").args.prop|
			{type,"location.type","location.id",requestedHandleType,usage}' >"props.$m"
		events | jq -c 'select(.api=="hipDrvMemcpy3D")|[.dir,.args.pCopy.srcMemoryType,.args.pCopy.dstMemoryType,
			.args.pCopy.WidthInBytes,.args.pCopy.Height,.args.pCopy.dstPitch,(.blobs.src|length)]' >"boxes.$m"
		events | jq -r 'select(.api|tostring|startswith("hipGetDeviceProperties")).args.prop|[.name,.warpSize,.major,.minor]|@text' >"device.$m"
		events | jq -c 'select(.api=="hipPointerGetAttributes").args.attributes.memoryType' >"memory.$m"
		run_sep hrr-play -d "$BUILD/lib/hrr/emu/libamdhip64.so.$((12 - m))" a.hrr # on another major
		status_is 0
		err_has "Verdict : matched"
		rm -r a.hrr
	done
	[ "$(sort -u props.*)" = '{"type":"hipMemAllocationTypePinned","location.type":"hipMemLocationTypeDevice","location.id":0,"requestedHandleType":"hipMemHandleTypeNone","usage":3}' ]
	[ "$(sort -u boxes.* | tr '\n' ' ')" = '["d2h","hipMemoryTypeDevice","hipMemoryTypeHost",64,4,64,0] ["h2d","hipMemoryTypeHost","hipMemoryTypeDevice",64,4,64,39] ' ]
	[ "$(sort -u device.* | wc -l)" -eq 1 ]
	[ "$(sort -u memory.*)" = '"hipMemoryTypeDevice"' ]
}

@test "rows: a capture that is given nodes by hand" {
	late capture
	[ "$(events | jq -c 'select(.api=="hipStreamGetCaptureInfo_v2").args|[.numDependencies_out,(.dependencies_out|length)]')" = '[1,1]' ]
	[ "$(events | jq -c 'select(.api=="hipGraphAddKernelNode").args.pDependencies')" = \
		"$(events | jq -c 'select(.api=="hipStreamGetCaptureInfo_v2").args.dependencies_out')" ]
	[[ $calls == *hipStreamUpdateCaptureDependencies* ]]
	# Without the question the node it told of has no name here.
	sed -i '/"hipStreamGetCaptureInfo_v2"/d' a.hrr/pid-*/events.jsonl
	run_sep hrr-play -k -d emu a.hrr
	status_is 1
	err_has "hipGraphAddKernelNode"
}

@test "rows: lists of copies, each with its direction and its bytes; boxes between devices" {
	late batch
	[ "$(events | jq -c 'select(.dirs)|[.api,.dirs,[.host[]?.size]]' | tr '\n' ' ')" = \
		'["hipMemcpyBatchAsync",["h2d","h2d","d2d","d2h"],[128,128]] ["hipMemcpy3DBatchAsync",["d2d","h2d"],[128]] ' ]
	[ "$(events | jq -c 'select(.api=="hipMemcpy3DPeer").dir')" = '"d2d"' ]
	err_has "2 outputs compared, all exact"
	# Bytes of a source that are not there are not made up.
	cp -r a.hrr b.hrr
	sed -i '/"hipMemcpyBatchAsync"/s/,"host":\[[^]]*\]//' a.hrr/pid-*/events.jsonl
	run_sep hrr-play -k -d emu a.hrr
	status_is 1
	err_has "hipMemcpyBatchAsync: copy 0 of 4: source"
	# Nor is a list that is longer than what stands there.
	sed -i '/"hipMemcpyBatchAsync"/s/"count":4/"count":5/' b.hrr/pid-*/events.jsonl
	run_sep hrr-play -k -d emu b.hrr
	status_is 1
	err_has "its list of 5 copies was not recorded"
}

@test "rows: lists of waits and writes" {
	late values
	[ "$(events | jq -c 'select(.api=="hipStreamBatchMemOp").args.paramArray|map([.operation,.value64])')" = \
		'[["hipStreamMemOpWriteValue32",7],["hipStreamMemOpWaitValue32",7],["hipStreamMemOpBarrier",0],["hipStreamMemOpWriteValue64",21474836486]]' ]
}

@test "rows: memory that a graph makes and frees at each launch" {
	late graphmem
	[[ $calls == *"hipGraphAddMemAllocNode hipGraphAddMemFreeNode"* ]]
	[ "$(events | jq -c 'select(.api=="hipGraphAddMemAllocNode").args.pNodeParams|[.bytesize,(.accessDescs|length),.dptr]')" = \
		"$(events | jq -c 'select(.api=="hipGraphAddMemFreeNode").args|[256,1,.dev_ptr]')" ]
	# A graph with a node that could not be rebuilt is not launched.
	sed -i '/"hipGraphAddMemAllocNode"/s/"dptr":"0x[0-9a-f]*"/"dptr":"0x0"/' a.hrr/pid-*/events.jsonl
	run_sep hrr-play -k -d emu a.hrr
	status_is 1
	err_has "is not launched: its node of call"
}

@test "rows: registered memory goes by changed pieces, with a limit and a switch" {
	local sizes='select(.kernel)|[.host[]?.size]'
	late pieces
	[ "$(events | jq -c "$sizes" | tr '\n' ' ')" = '[262144,262144,262144,262144] [262144] ' ]
	[ "$(events | jq -c 'select(.output)|[.size,.blob!=null]' | tr '\n' ' ')" = '[262144,true] [262144,true] ' ]
	for how in "--host-limit 512K" "--host-memory off"; do
		rm -rf a.hrr
		# shellcheck disable=SC2086
		run_sep hrr-capture -q -d emu $how -o a.hrr -- "$LATE" libamdhip64.so.7 "$APPS/modkern.hsaco" pieces
		status_is 0
		[ "$(events | jq -c "$sizes" | tr '\n' ' ')" = '[] [] ' ]
		[ "$(events | grep -c '"output"')" = 0 ]
	done
}

@test "rows: registered memory that is no longer there, or shut off, is not looked at" {
	late given_back
	[ "$(events | jq -c 'select(.kernel)|[.host[]?.size]|length' | tr '\n' ' ')" = '4 0 0 4 0 0 ' ]
	rm -rf a.hrr
	run_sep hrr-capture -q -d emu --host-memory all -o a.hrr -- "$LATE" libamdhip64.so.7 "$APPS/modkern.hsaco" given_back
	status_is 0
}

@test "rows: a capture into a graph that has nodes, instantiated with parameters" {
	late into
	[[ $calls == *hipGraphInstantiateWithParams* && $calls == *hipStreamBeginCaptureToGraph* ]]
	err_has "1 output compared, all exact"
	[ "$(events | jq -c 'select(.api=="hipGraphInstantiateWithParams").args.instantiateParams|[.flags,.result_out]')" = \
		'[1,"hipGraphInstantiateSuccess"]' ]
}

@test "rows: a slice keeps a capture whose graph was known before it ended" {
	need_prog hrr-cat
	local what
	for what in capture into; do
		late "$what"
		run_sep hrr-cat --slice "seq=$(events | jq 'select(.output).output')" a.hrr -o s.hrr
		status_is 0
		run_sep hrr-play -d emu s.hrr
		status_is 0
		err_has "1 output compared, all exact"
		rm -r a.hrr s.hrr
	done
}
