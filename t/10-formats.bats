# The formats as such: what every reader of a stream does with good and bad ones.
# shellcheck disable=SC2086,SC2016 # $S and $f have no blanks, or are meant to be split
load helper

setup() {
	common_setup
	need_prog hrr-cat hrr-regions
	cp -r "$ROOT/t/data/streams/small" small
	S=small/pid-4242/events.jsonl
}

# Every program that takes a stream as a filter.
filters() {
	printf '%s\n' "hrr-cat" "hrr-cat -e hip*" "hrr-regions ls" "hrr-regions check" \
		"hrr-regions add --kind block --base 0x1 --size 1"
}

@test "formats: blobs of the example are named by their hash" {
	need_cmd xxhsum
	for b in small/blobs/*/*; do
		[ "$(xxhsum -H2 <"$b" | cut -d' ' -f1)" = "$(basename "$b")" ]
	done
}

@test "formats: lines are objects to jq too, and as many" {
	need_cmd jq
	run_sep hrr-cat --no-sidecars $S
	status_is 0
	cp "$T/.out" lines
	run_sep jq -R -r "fromjson|type" lines
	[ "$(sort -u <<<"$out")" = object ]
	[ "$(wc -l <<<"$out")" -eq "$(wc -l <$S)" ]
}

@test "formats: an empty stream is trouble for every filter" {
	while read -r f; do
		run_sep bash -c "$f </dev/null"
		echo "$f"
		status_is 2
		no_out
		err_is "${f%% *}: -: empty: no process in it, or nothing was recorded"
	done < <(filters)
}

@test "formats: a header alone is cut short, and said" {
	while read -r f; do
		run_sep bash -c "head -n 1 $S | $f"
		echo "$f"
		status_is 0
		err_is "${f%% *}: -: cut short: no end record"
	done < <(filters)
}

@test "formats: a last line that is cut is left out, and said" {
	while read -r f; do
		run_sep bash -c "head -c 2000 $S | $f"
		echo "$f"
		status_is 0
		err_is "${f%% *}: -: cut short: the last line is not whole and left out"
	done < <(filters)
}

@test "formats: a stream cut at every byte is always said and never a crash" {
	s=small/pid-4250/events.jsonl
	size=$(stat -c %s $s)
	for ((i = 0; i < size; i++)); do
		head -c "$i" $s >torn
		run_sep hrr-cat torn
		echo "$i"
		[ "$status" -eq 0 ] || status_is 2
		err_like '^hrr-cat: torn: (cut short|empty)'
		[[ -z $out || $out == *'}' ]] || saw "half a line"
	done
	run_sep hrr-cat $s
	status_is 0
	no_err
}

@test "formats: a bad line in the middle is named and ends it" {
	sed '5s/.*/{"seq":3,/' $S >bad
	while read -r f; do
		run_sep bash -c "$f bad"
		echo "$f"
		status_is 2
		err_like "^${f%% *}: bad:5: not JSON: "
	done < <(filters)
}

@test "formats: an unknown record passes byte for byte" {
	sed '5s/.*/{ "future" : [1.50, "\\u0041"] , "x":{} }/' $S >odd
	run_sep hrr-cat odd
	out_has '{ "future" : [1.50, "\u0041"] , "x":{} }'
}

@test "formats: any order and spacing of members is read alike" {
	sed '4s/.*/{ "args": {"size": 16 , "ptr":"0x7f0000000000"}, "api" :"hipM\\u0061lloc","tid":4242,"dur":300,"t":2000, "seq":2 }/' $S >odd
	run_sep hrr-cat -c -e 'api=hipMalloc and size=16 and seq=2 and addr=0x7f0000000001' odd
	status_is 0
	out_is 1
}

@test "formats: a member twice is refused, whatever its spelling" {
	sed '4s/"seq":2/"seq":2,"seq":2/' $S >bad
	run_sep hrr-cat bad
	status_is 2
	err_like '^hrr-cat: bad:4: not JSON: duplicate object key'
	sed '4s/"seq":2/"seq":2,"s\\u0065q":2/' $S >bad
	run_sep hrr-cat bad
	status_is 2
	err_like '^hrr-cat: bad:4: not JSON: duplicate object key'
}

@test "formats: a line at the limit is read, one byte more is not" {
	{
		head -n 1 $S
		printf '{"note":"'
		head -c 16777205 /dev/zero | tr '\0' x
		printf '"}\n'
		tail -n +2 $S
	} >huge
	run_sep hrr-cat -c huge
	status_is 0
	out_is 9
	while read -r f; do
		run_sep bash -c "sed '2s/note/noted/' huge | $f"
		echo "$f"
		status_is 2
		err_is "${f%% *}: -:2: line too long: the limit is 16777216 bytes"
	done < <(filters)
}

@test "formats: nesting at the limit is read, one level more is not" {
	deep() {
		head -n 1 $S
		printf '{"note":'
		printf '[%.0s' $(seq "$1")
		printf ']%.0s' $(seq "$1")
		printf '}\n'
		tail -n +2 $S
	}
	deep 31 >nested
	run_sep hrr-cat -c nested
	status_is 0
	deep 32 >nested
	while read -r f; do
		run_sep bash -c "$f nested"
		echo "$f"
		status_is 2
		err_is "${f%% *}: nested:2: nested too deep: the limit is 32"
	done < <(filters)
}

@test "formats: a closed or full standard output is exit 2" {
	while read -r f; do
		case $f in
		*check) continue ;; # prints nothing here
		esac
		run_sep bash -c "$f $S >&-"
		echo "$f"
		status_is 2
		err_is "${f%% *}: standard output: cannot write: Bad file descriptor"
		run_sep bash -c "$f $S >/dev/full"
		status_is 2
		err_is "${f%% *}: standard output: cannot write: No space left on device"
	done < <(filters)
	run_sep bash -c "hrr-cat -h >/dev/full"
	status_is 2
}

@test "formats: a reader that goes away ends a filter by SIGPIPE, silently" {
	grep seq small/pid-4250/events.jsonl | awk '{ for (i = 0; i < 20000; i++) print }' >calls
	{ head -n 1 $S; cat calls; } >long
	run_sep bash -c 'hrr-cat long | head -n 1 >/dev/null; echo "${PIPESTATUS[0]}"'
	out_is 141
	no_err
}

@test "formats: another version of the stream is refused" {
	sed '1s/"hrr":1/"hrr":2/' $S >new
	run_sep hrr-cat new
	status_is 2
	err_is 'hrr-cat: new:1: stream version 2 is not known: this program reads version 1'
}

@test "formats: what cannot be opened is named" {
	run_sep hrr-cat nothing
	status_is 2
	err_is 'hrr-cat: nothing: cannot open: No such file or directory'
	mkdir empty
	run_sep hrr-cat empty
	status_is 2
	err_is 'hrr-cat: empty: not an archive: no manifest.json, no process folder'
	run_sep bash -c 'hrr-cat <&-'
	status_is 2
	err_like '^hrr-cat: -:'
}

@test "formats: zstd is noticed; damage and a cut are said" {
	need_cmd zstd
	zstd -q -o packed $S
	hrr-cat --no-sidecars $S >plain
	run_sep hrr-cat -b small/blobs packed
	status_is 0
	cmp "$T/.out" plain
	head -c 400 packed >torn
	run_sep hrr-cat torn
	err_has 'cut short'
	cp packed damaged
	printf '\377\377\377\377' | dd of=damaged bs=1 seek=30 conv=notrunc status=none
	run_sep hrr-cat damaged
	status_is 2
	err_like '^hrr-cat: damaged:[0-9]+: damaged compression: '
}

@test "formats: control characters in messages are masked" {
	sed '1!b;s/"hrr":1/"hrr":1,"\\u001b[31m":1,"\\u001b[31m":2/' $S >bad
	run_sep hrr-cat bad
	status_is 2
	[[ $err != *$'\e'* ]]
}

@test "formats: the state of an archive is told from outside" {
	run_sep hrr-cat small
	no_err
	sed -i '$d' small/pid-4242/events.jsonl
	run_sep hrr-cat -c small
	err_is 'hrr-cat: small: cut short: no end record'
	boot=$(cat /proc/sys/kernel/random/boot_id)
	echo "{\"hrr-archive\":1,\"state\":\"running\",\"writer\":$$,\"boot\":\"$boot\"}" >small/manifest.json
	run_sep hrr-cat -c small
	err_is 'hrr-cat: small: still running: no end record'
	run_sep hrr-cat -c small/pid-4242
	err_is 'hrr-cat: small/pid-4242: still running: no end record'
	echo "{\"hrr-archive\":1,\"state\":\"running\",\"writer\":$$,\"boot\":\"another\"}" >small/manifest.json
	run_sep hrr-cat -c small
	err_is 'hrr-cat: small: cut short: no end record'
	echo '{"hrr-archive":1,"state":"asleep"}' >small/manifest.json
	run_sep hrr-cat small
	status_is 2
	err_is 'hrr-cat: small/manifest.json: bad manifest: state is not known'
}
