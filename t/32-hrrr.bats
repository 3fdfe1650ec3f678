# shellcheck disable=SC2086 # words are meant to be split
# Sidecars of upstream HIP Record & Replay, in and out.
load helper

setup() {
	common_setup
	F=$(find "$ROOT/t/data/hrr/regions" -name '*.hrrr')
}

@test "regions import --hrrr: a sidecar of ours, in order of time" {
	run_sep hrr-regions import --hrrr "$F"
	status_is 0
	no_err
	head -n 1 .out | jq -e '.regions == 1 and .resolution == 1 and (.t0 | type) == "string"'
	[ "$(jq -c 'select(.region)' .out | wc -l)" -ge 2 ]
	jq -s -e '[.[] | select(.t) | .t] | . == sort' .out
}

@test "regions export --hrrr: what was imported comes out again" {
	hrr-regions import --hrrr "$F" >one.jsonl
	# A stream on the sidecar's clock, with its regions in it.
	jq -c -n --slurpfile s one.jsonl \
		'{hrr:1,pid:1,image:0,command:["x"],t0:$s[0].t0,realtime:"1",boot:"",env:{},blobs:"."}' >s
	tail -n +2 one.jsonl >>s
	run_sep hrr-regions export --hrrr two.hrrr s
	status_is 0
	run_sep hrr-regions import --hrrr two.hrrr
	status_is 0
	cmp one.jsonl .out
}

@test "regions: - as a file is standard input and output" {
	hrr-regions import --hrrr "$F" >one.jsonl
	run_sep bash -c "hrr-regions import --hrrr - <'$F'"
	status_is 0
	cmp one.jsonl .out
	run_sep bash -c "hrr-regions import --torch - <'$ROOT/t/data/torch/plain.pickle' | head -n 1"
	out_has '{"regions":1,'
	hrr-regions export --hrrr two.hrrr one.jsonl
	run_sep hrr-regions export --hrrr - one.jsonl
	status_is 0
	cmp two.hrrr .out
	[ ! -e ./- ]
}

@test "regions: a sidecar by itself is no stream that lacks something" {
	hrr-regions import --hrrr "$F" >one.jsonl
	for c in ls check 'map --svg'; do
		run_sep hrr-regions $c one.jsonl
		status_is 0
		no_err
	done
	head -c -5 one.jsonl >cut.jsonl
	run_sep hrr-regions ls cut.jsonl
	err_is 'hrr-regions: cut.jsonl: cut short: the last line is not whole and left out'
	run_sep hrr-regions ls <(tail -n +2 one.jsonl)
	err_has 'no header'
}

@test "regions import --hrrr: a cut batch and a file that is none are said" {
	head -c -5 "$F" >cut.hrrr
	run_sep hrr-regions import --hrrr cut.hrrr
	status_is 0
	err_has 'hrr-regions: cut.hrrr: warning: a batch is cut'
	echo no sidecar >bad.hrrr
	run_sep hrr-regions import --hrrr bad.hrrr
	status_is 2
	no_out
	err_has 'hrr-regions: bad.hrrr: '
	run_sep hrr-regions import --hrrr missing.hrrr
	status_is 2
	run_sep hrr-regions import
	status_is 2
	run_sep hrr-regions export s
	status_is 2
}

@test "regions export --hrrr: tags that are no numbers are counted, nothing is half written" {
	{
		echo '{"hrr":1,"pid":1,"image":0,"command":["x"],"t0":"1000","realtime":"1","boot":"","env":{},"blobs":"."}'
		echo '{"region":"add","kind":"segment","device":0,"base":"0x1000","size":64,"t":5,"tag":"pool"}'
	} >s
	run_sep hrr-regions export --hrrr out.hrrr s
	status_is 0
	err_has 'out.hrrr: warning: 1 tags are lost'
	[ "$(stat -c %s out.hrrr)" -eq 80 ]
	echo '{"region":"add","kind":"segment","base":"0x1000","size":0}' >>s
	run_sep hrr-regions export --hrrr other.hrrr s
	status_is 2
	[ ! -e other.hrrr ]
}
