# What an archive's makers can do to a terminal, a folder or a reader: nothing. Each program with names
# that hold escapes, links out of the folder, ids that are paths, and compression without end.
load helper

ESC=$'\033'

# An archive whose names are hostile: kernels, calls, tags, command, library; and a folder so named.
hostile() {
	bad="$1/ev${ESC}[31mil.hrr"
	cp -r "$ROOT/t/data/fuzz/play/symbols.hrr" "$bad"
	local e
	e=$(echo "$bad"/pid-*/events.jsonl)
	sed -i 's/_Z5applyi/_Z5\\u001b[31m\\u0007apply/g; s/"table"/"ta\\u001b]0;title\\u0007ble"/g; s/"library":"[^"]*"/"library":"\\u001b[2J"/; s/"command":\["/"command":["\\u001b[5m/' "$e"
	hrr-regions add --kind segment --base 0x7f0000000000 --size 4096 --tag "${ESC}[41mtag" -a "$bad"
}

# (A table is masked where it goes to a terminal: t/21.)
# Nothing printed holds an escape or another control character but tab and the ends of lines.
plain() {
	run_sep "$@"
	! LC_ALL=C grep -q $'[\001-\010\013\014\016-\037\177]' "$T/.out" "$T/.err" || saw "control characters reach the terminal: $*"
}

@test "escapes in an archive and its name are masked by all five programs" {
	need_emu
	hostile .
	plain hrr-cat "$bad"
	plain hrr-cat --info "$bad"
	plain hrr-cat --text "$bad"
	out_has '_Z5\x1b[31m\x07apply'
	plain hrr-cat --timeline "$bad"
	plain hrr-cat --info --demangle "$bad"
	plain hrr-cat -e nothing -o out "$bad/none${ESC}[1m"
	plain hrr-regions ls "$bad"
	out_has '\x1b[41mtag'
	plain hrr-regions check "$bad"
	plain hrr-regions explain 0x7f0000000008 "$bad"
	plain hrr-regions lint "$bad"
	plain hrr-regions map --svg "$bad"
	plain hrr-diff "$bad" "$ROOT/t/data/fuzz/play/symbols.hrr"
	plain hrr-diff -j "$bad" "$ROOT/t/data/fuzz/play/symbols.hrr"
	plain hrr-play -k -d emu "$bad"
	plain hrr-play -k -d emu -r /dev/stdout "$bad"
	plain hrr-capture --recover "$bad"
	plain hrr-capture -o "$bad" -- true
	plain hrr-capture -d "e${ESC}[1mmu" -- true
	plain hrr-capture -o b.hrr -- "./no${ESC}[31mne"
	rm "$bad"/blobs/*/*
	plain hrr-cat --verify "$bad"
	plain hrr-play -k -d emu "$bad"
	head -c 500 "$bad"/pid-*/events.jsonl >"cut$ESC.jsonl"
	plain hrr-cat --text "cut$ESC.jsonl"
}

# Characters that turn what follows around, end a line or are C1 controls, in UTF-8.
turned() {
	LC_ALL=C grep -q -e $'\xe2\x80[\x8e\x8f\xa8-\xae]' -e $'\xe2\x81[\xa6-\xa9]' -e $'\xd8\x9c' -e $'\xc2[\x80-\x9f]' "$@"
}
straight() {
	run_sep "$@"
	! turned "$T/.out" "$T/.err" || saw "the direction of text changes: $*"
}

@test "what turns text around is masked: in text always, in lines and tables on a terminal" {
	need_emu
	need_cmd script
	need_terminal
	local odd=$'\u202e\u2066\u2069\u200e\u200f\u061c\u2028\u009b2J' e
	bad="ev${odd}il.hrr"
	cp -r "$ROOT/t/data/fuzz/play/symbols.hrr" "$bad"
	e=$(echo "$bad"/pid-*/events.jsonl)
	sed -i "s/_Z5applyi/_Z5${odd}apply/g; s/\"table\"/\"ta${odd}ble\"/g; s/\"library\":\"[^\"]*\"/\"library\":\"${odd}\"/; s/\"command\":\[\"/\"command\":[\"${odd}/; s/\"api\":\"hipFree\"/\"api\":\"hip${odd}Free\"/" "$e"
	hrr-regions add --kind segment --base 0x7f0000000000 --size 4096 --tag "${odd}tag" -a "$bad"
	straight hrr-cat --info "$bad"
	out_has '_Z5\xe2\x80\xae\xe2\x81\xa6'
	straight hrr-cat --text "$bad"
	out_has '\xd8\x9c\xe2\x80\xa8\xc2\x9b2Japply'
	straight hrr-regions ls "$bad"
	straight hrr-regions explain 0x7f0000000008 "$bad"
	straight hrr-regions lint "$bad"
	straight hrr-regions map --svg "$bad"
	straight hrr-diff "$bad" "$ROOT/t/data/fuzz/play/symbols.hrr"
	straight hrr-play -k -d emu "$bad"
	straight hrr-capture -o "$bad" -- true
	run_sep hrr-cat "$bad"
	turned "$T/.out" || saw 'a pipe gets the bytes as they are'
	for e in '' --csv --timeline; do
		straight script -qec "hrr-cat $e ev*il.hrr" /dev/null
		out_has '\xe2\x80\xae'
	done
	straight script -qec "hrr-diff -j ev*il.hrr '$ROOT/t/data/fuzz/play/symbols.hrr'" /dev/null
}

@test "no id names a file outside, and links in a store are not followed" {
	need_emu
	cp -r "$ROOT/t/data/fuzz/play/symbols.hrr" a.hrr
	local b id
	b=$(find a.hrr/blobs -type f | sort | head -1)
	id=xxh128:${b##*/}
	cp "$b" outside
	rm "$b"
	ln -s "$T/outside" "$b"
	run_sep hrr-cat --verify a.hrr
	status_is 1
	out_has "$id is damaged"
	run_sep hrr-cat -o copy.hrr a.hrr
	status_is 2
	[ ! -e copy.hrr ]
	sed -i "s|$id|xxh128:../../../../../../../etc/passwd0|" a.hrr/pid-*/events.jsonl
	out=$(hrr-cat -o copy.hrr a.hrr 2>&1 || true)
	[[ $out != *root:* ]]
	[ "$(grep -rl 'root:' copy.hrr 2>/dev/null | wc -l)" = 0 ]
}

@test "decompression is bounded: a line without end is refused in little memory" {
	head -c 300000000 /dev/zero | tr '\0' a | zstd -q >bomb.zst
	[ "$(wc -c <bomb.zst)" -lt 1000000 ]
	run_sep env LC_ALL=C /usr/bin/time -f '%M' hrr-cat bomb.zst
	status_is 2
	err_has "line too long"
	[ "$(tail -1 .err)" -lt 200000 ] || [ -n "${HRR_T_ASAN:-}" ]
}

# One call after an allocation, a stream and a graph: refused by name, and the replay goes on to its end.
refuses() {
	local why="$1"
	{
		echo '{"seq":1,"t":1,"dur":1,"tid":1,"api":"hipMalloc","args":{"ptr":"0x600000000000","size":4096}}'
		echo '{"seq":2,"t":2,"dur":1,"tid":1,"api":"hipStreamCreate","args":{"stream":"0x30"}}'
		echo '{"seq":3,"t":3,"dur":1,"tid":1,"api":"hipGraphCreate","args":{"pGraph":"0x50","flags":0}}'
		echo '{"seq":4,"t":4,"dur":1,"tid":1,'"$2"'}'
		echo '{"seq":5,"t":5,"dur":1,"tid":1,"api":"hipFree","args":{"ptr":"0x600000000000"}}'
	} >one.jsonl
	run_sep hrr-play -k -d emu one.jsonl
	status_is 1
	err_has "$why"
}

@test "hrr-play: a call whose array or structure is not in its record is refused, not followed" {
	need_emu
	refuses 'cuMask: 0 elements, but 1 are needed' '"api":"hipExtStreamCreateWithCUMask","args":{"stream":"0x40","cuMaskSize":1,"cuMask":"0x123456"}'
	refuses 'cuMask: 2 elements, but 8192 are needed' '"api":"hipExtStreamCreateWithCUMask","args":{"stream":"0x40","cuMaskSize":8192,"cuMask":[1,2]}'
	refuses 'nodes: 400000000 elements, more than' '"api":"hipGraphGetNodes","args":{"graph":"0x50","nodes":["0x60"],"numNodes":400000000}'
	refuses 'argument extent was not recorded' '"api":"hipMalloc3DArray","args":{"array":"0x77","desc":{"x":32,"y":0,"z":0,"w":0,"f":"hipChannelFormatKindFloat"},"flags":0}'
	refuses 'runs past the end' '"api":"hipStreamBatchMemOp","args":{"stream":"0x30","count":1,"paramArray":[{"operation":"hipStreamMemOpWriteValue64","address":"0x600000000ffc","value64":1,"flags":0}],"flags":0}'
	refuses 'runs past the end' '"api":"hipStreamWriteValue64","args":{"stream":"0x30","ptr":"0x600000000ffc","value":1,"flags":0}'
}

@test "hrr-play: a grid of more work-items than fit is refused, not cut" {
	need_emu
	hrr-cat "$ROOT/t/data/fuzz/play/symbols.hrr" | sed -E \
		-e '/"seq":13,/s/"api":.*/"api":"hipEventCreate","args":{"event":"0x90"}}/' \
		-e '/"seq":14,/{s/hipLaunchKernel/hipExtLaunchKernel/;s/\[1,1,1\]/[16777217,1,1]/g;s/"stream":"0x0"/&,"startEvent":"0x90","stopEvent":null,"flags":0/}' >big.jsonl
	grep -q hipExtLaunchKernel big.jsonl
	run_sep hrr-play -k -d emu big.jsonl
	status_is 1
	err_has 'big.jsonl:16: hipExtLaunchKernel: a grid of 16777217 blocks of 256 work-items'
	err_has '1 refused'
}

# What a folder's maker put where a file has to be is refused at once, with its name.
@test "pipes, devices and links to them in an archive are refused, not waited for" {
	need_emu
	local what make e
	for what in manifest.json pid-26928/events.jsonl pid-26928/regions/x.jsonl; do
		for make in mkfifo 'ln -s /dev/zero'; do
			rm -rf a.hrr o.hrr
			cp -r "$ROOT/t/data/fuzz/play/symbols.hrr" a.hrr
			rm -f "a.hrr/$what"
			mkdir -p a.hrr/pid-26928/regions
			$make "a.hrr/$what"
			for e in "hrr-cat" "hrr-cat --info" "hrr-cat --slice @launch" "hrr-cat --verify" "hrr-cat -o o.hrr" "hrr-cat --pack" \
				"hrr-regions ls" "hrr-diff $ROOT/t/data/fuzz/play/symbols.hrr" "hrr-play -d emu"; do
				# shellcheck disable=SC2086 # words
				LIMIT=10 run_sep $e a.hrr
				status_is 2
				err_has "it is not a plain file"
				err_has "${what##*/}"
				[ ! -e o.hrr ]
			done
		done
	done
	cp -r "$ROOT/t/data/streams/small/pid-4242/events.jsonl" e.jsonl
	mkfifo named
	cat e.jsonl >named &
	LIMIT=10 run_sep hrr-cat -c named # one that the user names is read
	status_is 0
	mkfifo side.jsonl
	LIMIT=10 run_sep hrr-regions merge side.jsonl
	status_is 2
	err_has "side.jsonl: cannot open sidecar: it is not a plain file"
}

@test "a pack holds the whole archive: what it could not hold is refused" {
	cp -r "$ROOT/t/data/streams/small" a.hrr
	ln -s ../pid-4242 a.hrr/pid-1
	run_sep hrr-cat --pack a.hrr
	status_is 2
	err_has "a.hrr: cannot pack pid-1: it is not a plain file"
	rm a.hrr/pid-1
	mkdir -p a.hrr/1/2/3/4
	run_sep hrr-cat --pack a.hrr
	status_is 2
	err_has "cannot pack 1/2/3/4: folders too deep"
}

# head_of FILE SIZE TYPE NAME: the head of one file in a packed archive
head_of() {
	local size
	# shellcheck disable=SC2094 # /dev/zero
	size=$(printf '%012o' "$2" | tail -c 11)
	{
		printf '%s' "$4" | head -c 100
		head -c $((100 - ${#4})) /dev/zero
		printf '0000600\0000000000\0000000000\0%s\0%s\0' "$size" 00000000000
		printf '        %s' "$3"
		head -c 100 /dev/zero
		printf 'ustar\00000'
		head -c 247 /dev/zero
	} >block
	local sum
	sum=$(od -An -v -tu1 block | awk '{ for (i = 1; i <= NF; i++) n += $i } END { printf "%06o", n }')
	{ head -c 148 block; printf '%s\0 ' "$sum"; tail -c +157 block; } >"$1"
}

teardown() {
	umount "$T/tiny" 2>/dev/null || true
}

@test "cat --unpack: what no disk has is refused, and room is left on it" {
	mkdir tiny
	mount -t tmpfs -o size=2m none tiny 2>/dev/null || skip "mounting is not allowed here"
	local size
	# The second would fit, but for the sixteenth that stays free.
	for size in $((1 << 32)) $((2000 << 10)); do
		head_of big.tar "$size" 0 a.hrr/blobs/00/00000000000000000000000000000000
		[ "$(wc -c <big.tar)" = 512 ]
		head -c 100000 /dev/zero >>big.tar
		zstd -q -f big.tar
		run_sep hrr-cat --unpack -o tiny/o big.tar.zst
		status_is 2
		err_has "$size bytes, but"
		[ -z "$(ls -A tiny)" ]
	done
}

@test "cat --unpack: long remarks and folders above are refused" {
	head_of up.tar 1 0 ../x
	head -c 5000 /dev/zero >>up.tar
	head_of remark.tar $((1 << 32)) x a.hrr/x
	head -c 5000 /dev/zero >>remark.tar
	local f
	for f in up remark; do
		zstd -q $f.tar
		run_sep hrr-cat --unpack -o o $f.tar.zst
		status_is 2
		err_has "refused: not a plain file of an archive"
		[ ! -e o ]
	done
}

@test "a blob larger than the machine's memory is refused before it is read" {
	need_emu
	cp -r "$ROOT/t/data/fuzz/play/symbols.hrr" a.hrr
	local b
	for b in a.hrr/blobs/*/*; do
		truncate -s 900G "$b" || lacking "no files of 900 GB here"
	done
	LIMIT=30 run_sep hrr-play -d emu a.hrr
	status_is 2
	err_has "is larger than it may be here"
}

@test "hrr-capture --recover: nothing is written through links of an archive" {
	need_prog hrr-capture
	cp -r "$ROOT/t/data/streams/small" a.hrr
	mkdir elsewhere
	ln -s ../elsewhere a.hrr/.recording
	run_sep hrr-capture --recover a.hrr
	status_is 125
	err_has ".recording is a link"
	rm a.hrr/.recording
	mkdir a.hrr/.recording
	ln -s ../elsewhere a.hrr/pid-1
	run_sep hrr-capture --recover a.hrr
	status_is 125
	err_has "pid-1 is a link"
	[ -z "$(ls -A elsewhere)" ]
}

@test "lines without an end, nesting and counts of an archive are bounded" {
	local line
	cp -r "$ROOT/t/data/streams/small/pid-4242/events.jsonl" e.jsonl
	head -c 100000000 /dev/zero | tr '\0' '[' >deep
	for line in deep wide; do
		[ $line = deep ] || { printf '{"x":[' && yes 1, | head -n 5000000 | tr -d '\n' && printf '1]}\n'; } >wide
		cat e.jsonl $line >$line.jsonl
		run_sep hrr-cat $line.jsonl
		status_is 2
		err_has "the limit is"
		rm $line $line.jsonl
	done
}
