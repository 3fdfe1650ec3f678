# shellcheck disable=SC2086,SC2016 # $S has no blanks
# hrr-cat: --verify, --repair, --redact, --pack, --unpack.
load helper

setup() {
	common_setup
	need_prog hrr-cat
	need_cmd jq xxhsum
	cp -r "$ROOT/t/data/streams/small" small
	chmod -R u+w small
	S=small/pid-4242
	SRC=1f/1f58fc809b1b8c4b3e8e153ff12f6330
	OUT=ad/add4d3ce7bf0ff0c624a7c159d41e475
	OBJ=0e/0ec3c0793d8bb10a2d59a70069f36c53
}

@test "cat --verify: a whole archive" {
	run_sep hrr-cat --verify small
	status_is 0
	no_err
	out_is '3 blobs, 56 bytes: 0 missing, 0 damaged, 0 orphaned, 0 records broken; stream complete'
}

@test "cat --verify: missing, damaged and orphaned blobs, and what they break" {
	rm -f small/blobs/$SRC
	echo damage >small/blobs/$OUT
	truncate -s 3 small/blobs/$OBJ
	id=$(printf orphan | xxhsum -H2 | cut -d' ' -f1)
	mkdir -p small/blobs/${id:0:2}
	printf orphan >small/blobs/${id:0:2}/$id
	touch small/blobs/${id:0:2}/.tmp-1-1 small/blobs/readme
	run_sep hrr-cat --verify small
	status_is 1
	out_is "blob xxh128:${SRC#*/} is missing: process 0 call 3 hipMemcpy src
blob xxh128:${OBJ#*/} is damaged: process 0 launch 5 hipLaunchKernel _Z5upperPc object
blob xxh128:${OUT#*/} is damaged: process 0 output of 7 blob
blob xxh128:$id is orphaned: nothing names it
2 blobs, 0 bytes: 1 missing, 2 damaged, 1 orphaned, 3 records broken; stream complete"
}

@test "cat --verify: orphans in an upstream archive" {
	hrr-cat -q -o up --format hrr8 small 2>/dev/null
	run_sep hrr-cat --verify up
	status_is 0
	h=0123456789abcdef0123456789abcdef
	mkdir -p up/pid-4242/blobs/01 up/pid-4242/code_objects
	printf stray >up/pid-4242/blobs/01/$h.blob
	printf stray >up/pid-4242/code_objects/${h/0/f}.hsaco
	run_sep hrr-cat --verify up
	status_is 1
	out_has "blob blobs/01/$h.blob is orphaned: nothing names it"
	out_has "blob code_objects/${h/0/f}.hsaco is orphaned: nothing names it"
	out_has ' 2 orphaned'
	# A name that is no hash is named by nothing; what is no blob by its ending is nobody's.
	touch "up/pid-4242/blobs/01/odd name.blob" up/pid-4242/code_objects/saxpy.hsaco
	touch up/pid-4242/blobs/01/${h^^}.blob up/pid-4242/blobs/01/${h}0.blob
	touch up/pid-4242/blobs/readme up/pid-4242/blobs/01/.tmp-1.blob
	run_sep hrr-cat --verify up
	status_is 1
	out_has "blob blobs/01/odd name.blob is orphaned: nothing names it"
	out_has "blob blobs/01/${h^^}.blob is orphaned: nothing names it"
	out_has "blob blobs/01/${h}0.blob is orphaned: nothing names it"
	out_has "blob code_objects/saxpy.hsaco is orphaned: nothing names it"
	out_has ' 6 orphaned'
	# Of a part of the stream it cannot be known what nothing names.
	run_sep hrr-cat --verify -e @copy up
	out_lacks orphaned:
}

@test "cat --verify: progress on a terminal, none elsewhere" {
	need_cmd script
	head -c 3000000 /dev/zero >zeros
	id=$(xxhsum -H2 <zeros | cut -d' ' -f1)
	mkdir -p small/blobs/${id:0:2}
	mv zeros small/blobs/${id:0:2}/$id
	need_terminal
	run_sep script -qec 'hrr-cat --verify small' /dev/null
	out_has 'hrr-cat: MiB of blobs 0 of 2'
	run_sep script -qec 'hrr-cat -q --verify small' /dev/null
	out_lacks 'MiB'
}

@test "cat --verify: a stream that is cut is found too" {
	sed -i '$d' $S/events.jsonl
	run_sep hrr-cat --verify small
	status_is 1
	out_has 'stream cut short'
}

@test "cat --repair: what can be mended is, and each change is said" {
	rm -f small/blobs/$SRC small/blobs/$OUT
	sed -i '$d' $S/events.jsonl
	sed -i '10s/.*/{"note":/' $S/events.jsonl
	printf '{"seq":10,"t":' >>$S/events.jsonl
	run_sep hrr-cat --repair --pid 4242 -o good.hrr small
	status_is 0
	err_has "hrr-cat: $S/events.jsonl:5: blob xxh128:${SRC#*/} is missing: a call stays broken"
	err_like "hrr-cat: $S/events.jsonl:10: not JSON.*: a line was left out"
	err_has "hrr-cat: $S/events.jsonl:12: blob xxh128:${OUT#*/} is missing: an output is now of unknown bytes"
	err_has 'process 4242 had no end: an end record was added'
	run_sep hrr-cat good.hrr
	err_is 'hrr-cat: good.hrr: cut short: the process was killed, or not all of it was recorded'
	[ "$(jq -c 'select(.end) | [.end,.calls,.outputs,.regions]' <"$T/.out")" = '["cut",9,1,3]' ]
	[ "$(jq -r 'select(.output) | .unknown' <"$T/.out")" = 'its blob was missing' ]
	run_sep hrr-cat --verify good.hrr
	out_has '1 missing, 0 damaged'
}

@test "cat --repair: a whole archive is copied as it is, in silence" {
	run_sep hrr-cat --repair -o good.hrr small
	status_is 0
	no_err
	diff <(hrr-cat small | grep -v '"hrr":1') <(hrr-cat good.hrr | grep -v '"hrr":1')
}

@test "cat --redact: payloads are other bytes of the same size, code stays" {
	run_sep hrr-cat --redact -o secret.hrr small
	status_is 0
	err_like '^hrr-cat: payloads are replaced; the archive still tells: command lines'
	run_sep hrr-cat --verify secret.hrr
	status_is 0
	cmp small/blobs/$OBJ secret.hrr/blobs/$OBJ
	[ ! -e secret.hrr/blobs/$SRC ] && [ ! -e secret.hrr/blobs/$OUT ]
	run_sep grep -rq abcdefghijklmnop secret.hrr
	status_is 1
	[ "$(find secret.hrr/blobs -type f -size 16c | wc -l)" -eq 2 ]
	# all but the ids is as it was
	diff <(hrr-cat small | grep -v '"hrr":1' | sed 's/xxh128:[0-9a-f]*//') \
		<(hrr-cat secret.hrr | grep -v '"hrr":1' | sed 's/xxh128:[0-9a-f]*//')
}

@test "cat --redact: equal payloads stay equal" {
	sed -i "s/${OUT#*/}/${SRC#*/}/" $S/events.jsonl
	run_sep hrr-cat --redact -o secret.hrr $S
	[ "$(hrr-cat secret.hrr | jq -r '.blobs.src? // .blob? // empty' | sort -u | wc -l)" -eq 1 ]
	run_sep hrr-cat --redact -o other.hrr $S
	run_sep cmp secret.hrr/pid-4242/events.jsonl other.hrr/pid-4242/events.jsonl
	status_is 1
}

# An object of the small archive: code for the host, for gfx90a and for gfx1030.
two_archs() {
	local id
	printf 'a kernel' >one
	printf 'another kernel' >other
	: >host
	clang-offload-bundler-15 --type=o --input=host --input=one --input=other --output=two \
		--targets=host-x86_64-unknown-linux--,hipv4-amdgcn-amd-amdhsa--gfx90a,hipv4-amdgcn-amd-amdhsa--gfx1030
	id=$(xxhsum -H2 two 2>/dev/null | cut -c1-32)
	mkdir -p "small/blobs/${id:0:2}"
	cp two "small/blobs/${id:0:2}/$id"
	rm "small/blobs/$OBJ"
	sed -i "s/${OBJ#*/}/$id/" $S/events.jsonl
}

@test "cat --arch: of code objects what runs on one arch, the rest left out" {
	need_cmd clang-offload-bundler-15
	two_archs
	run_sep hrr-cat --arch gfx90a -o one.hrr small
	status_is 0
	no_err
	run_sep hrr-cat --verify one.hrr
	status_is 0
	id=$(hrr-cat one.hrr | jq -r '.kernel.object // empty' | sort -u | cut -d: -f2)
	file=one.hrr/blobs/${id:0:2}/$id
	grep -q 'a kernel' "$file"
	! grep -q 'another kernel' "$file" || saw "the other arch's code"
	# all but the object is as it was
	diff <(hrr-cat small | grep -v '"hrr":1' | sed "s/$(xxhsum -H2 two 2>/dev/null | cut -c1-32)/$id/") \
		<(hrr-cat one.hrr | grep -v '"hrr":1')
	cmp small/blobs/$SRC one.hrr/blobs/$SRC
	# what needs nothing more stays as it is
	hrr-cat --arch gfx90a:xnack- -o same.hrr one.hrr
	diff -r one.hrr same.hrr
	hrr-cat --arch gfx90a --redact -o secret.hrr small 2>/dev/null
	cmp "$file" "secret.hrr/blobs/${id:0:2}/$id"
}

@test "cat --arch: code that is not there is said, and nothing is written without any" {
	need_cmd clang-offload-bundler-15
	two_archs
	run_sep hrr-cat --arch gfx942 -o none.hrr small
	status_is 2
	err_is 'hrr-cat: --arch gfx942: no code object here has code for it'
	[ ! -e none.hrr ]
	run_sep hrr-cat --arch gfx90a small
	status_is 2
	err_has '--redact, --repair and --arch need -o, and our own format'
}

@test "cat --pack, --unpack: the archive comes back; the same bytes each time; tar reads it" {
	hrr-cat --pack small >one
	touch $S/events.jsonl
	hrr-cat --pack "$PWD/small/" >two
	cmp one two
	run_sep hrr-cat --unpack -o back.hrr one
	status_is 0
	no_out
	no_err
	diff -r small back.hrr
	[ "$(stat -c %a back.hrr back.hrr/pid-4242/events.jsonl back.hrr/blobs/$SRC | tr '\n' ' ')" = '700 600 400 ' ]
	run_sep bash -c 'hrr-cat --pack small | hrr-cat --unpack -o pipe.hrr && hrr-cat --verify pipe.hrr'
	status_is 0
	need_cmd tar zstd
	zstd -dcq one | tar -tf - >names
	[ "$(wc -l <names)" -eq "$(find small -type f | wc -l)" ]
	tar -C small/.. -cf - small | zstd -q >tarred
	run_sep hrr-cat --unpack -o tarred.hrr tarred
	status_is 0
	diff -r small tarred.hrr
}

@test "cat --pack: what could not be unpacked again is refused" {
	mkdir nothing.hrr
	for d in nothing.hrr small/blobs; do
		run_sep hrr-cat --pack $d
		status_is 2
		no_out
		err_is "hrr-cat: $d: cannot pack: not an archive: no manifest.json"
	done
}

@test "cat: a file of another format is told by what it is, in one message" {
	hrr-cat -q -o up --format hrr8 small 2>/dev/null
	cp up/pid-4242/events.bin copy.dat
	printf 'HRRR\001\000\000\000' >x.hrrr
	printf 'HRRR\001\000\000\000\n{' >line.hrrr
	printf '\200\004}.' >s.pickle
	while read -r file text; do
		for program in hrr-cat 'hrr-regions ls'; do
			run_sep $program $file
			status_is 2
			no_out
			err_is "${program%% *}: $file: $text"
		done
		run_sep hrr-cat - <$file
		status_is 2
		err_is "hrr-cat: -: $text"
	done <<-'EOF'
		copy.dat an events.bin of upstream HRR: name its archive's folder
		x.hrrr a sidecar of upstream HRR: hrr-regions import --hrrr reads it
		line.hrrr a sidecar of upstream HRR: hrr-regions import --hrrr reads it
		s.pickle a pickle: hrr-regions import --torch reads PyTorch's memory snapshots
	EOF
	# Compressed, too; and a sidecar that is named.
	zstd -q x.hrrr -o x.zst
	run_sep hrr-cat x.zst
	status_is 2
	err_has 'x.zst: a sidecar of upstream HRR'
	run_sep hrr-cat --regions x.hrrr small
	status_is 2
	err_has 'x.hrrr: a sidecar of upstream HRR'
}

@test "cat: a packed archive is no stream, and what to do is said" {
	hrr-cat --pack small >small.pack
	run_sep hrr-cat small.pack
	status_is 2
	no_out
	err_is 'hrr-cat: small.pack: a packed archive: unpack it first (hrr-cat --unpack)'
	zstd -q -d -c <small.pack >small.tar
	run_sep hrr-cat - <small.tar
	status_is 2
	err_is 'hrr-cat: -: a packed archive: unpack it first (hrr-cat --unpack)'
}

@test "cat --unpack: a tar that is not compressed, whole or cut" {
	need_cmd tar zstd
	hrr-cat --pack small | zstd -q -d >small.tar
	run_sep hrr-cat --unpack -o one.hrr small.tar
	status_is 0
	diff -r small one.hrr
	tar -cf gnu.tar small
	run_sep bash -c 'cat gnu.tar | hrr-cat --unpack -o two.hrr'
	status_is 0
	diff -r small two.hrr
	for n in 511 512 513 700 3000; do
		head -c $n small.tar >torn
		run_sep hrr-cat --unpack -o three.hrr torn
		status_is 2
		err_like '^hrr-cat: torn: (cut short|not a pack)'
		[ ! -e three.hrr ]
	done
}

@test "cat -b: an archive stands for its blobs" {
	run_sep bash -c "hrr-cat -b small --verify - <$S/events.jsonl"
	status_is 0
	run_sep bash -c "hrr-cat -b small -o out.hrr - <$S/events.jsonl"
	status_is 0
	hrr-cat --verify out.hrr
	run_sep bash -c "hrr-cat -b small - <$S/events.jsonl | head -n 1 | jq -r .blobs"
	out_is "$(realpath small)/blobs"
	# A folder called so in a folder of blobs is no archive's.
	mkdir -p odd/blobs
	cp -r small/blobs/* odd/
	run_sep bash -c "hrr-cat -b odd --verify - <$S/events.jsonl"
	status_is 0
}

@test "cat --pack, --unpack: nothing that is asked for is passed over" {
	hrr-cat --pack small >one
	for o in '-e @copy' '--first 1' '--last 1' '--pid 4242' '--slice seq=1' '-b blobs' '--regions x' --no-sidecars --follow; do
		run_sep hrr-cat --pack $o small
		status_is 2
		no_out
		err_has '--pack and --unpack take an archive as it is'
		run_sep hrr-cat --unpack -o two.hrr $o one
		status_is 2
		err_has '--pack and --unpack take an archive as it is'
		[ ! -e two.hrr ]
	done
	run_sep hrr-cat --unpack -o two.hrr --redact one
	status_is 2
	for o in --info --text --pack; do
		run_sep hrr-cat $o -o two.hrr small
		status_is 2
		err_has 'hrr-cat: -o writes an archive: nothing is printed with it'
	done
	run_sep hrr-cat --pack -
	status_is 2
	err_has '--pack needs an archive'
	run_sep bash -c 'hrr-cat --pack small >/dev/full'
	status_is 2
	err_is 'hrr-cat: standard output: cannot write: No space left on device'
}

@test "cat: a manifest and what gzip made are told by what they are" {
	run_sep hrr-cat small/manifest.json
	status_is 2
	err_is 'hrr-cat: small/manifest.json: the manifest of an archive: name its folder'
	gzip -c $S/events.jsonl >events.gz
	run_sep hrr-cat events.gz
	status_is 2
	err_is 'hrr-cat: events.gz: compressed with gzip: unpack it first (gunzip)'
}

@test "cat --unpack: appears whole or not at all" {
	hrr-cat --pack small >one
	size=$(stat -c %s one)
	for i in $(seq 0 37 $((size - 1))); do
		head -c "$i" one >torn
		run_sep hrr-cat --unpack -o back.hrr torn
		echo "$i"
		status_is 2
		err_like '^hrr-cat: torn: (cut short|not a pack)'
		[ ! -e back.hrr ]
	done
	mkdir back.hrr
	run_sep hrr-cat --unpack -o back.hrr one
	status_is 2
	err_is 'hrr-cat: back.hrr: cannot make archive: it is there already'
	[ -z "$(find . -maxdepth 1 -name '.tmp*')" ]
	run_sep hrr-cat --unpack -o x $S/events.jsonl
	status_is 2
	err_like 'not a pack, or damaged'
}

@test "cat --unpack: nothing leaves the folder, no links, no strange names" {
	need_cmd tar zstd
	mkdir -p evil/a
	echo '{}' >evil/a/manifest.json
	pack_of() { tar -C evil --transform "$1" -P -cf - "$2" | zstd -q >pack; }
	refused() {
		run_sep hrr-cat --unpack -o out.hrr pack
		status_is 2
		err_like 'refused: not a plain file of an archive'
		[ ! -e out.hrr ]
	}
	pack_of 's,a/manifest.json,a/../../escape,' a/manifest.json
	refused
	pack_of 's,a/manifest.json,/tmp/hrr-escape,' a/manifest.json
	run_sep hrr-cat --unpack -o out.hrr pack
	[ ! -e /tmp/hrr-escape ] && [ ! -e escape ]
	pack_of 's,a/manifest.json,a/.hidden,' a/manifest.json
	refused
	pack_of 's,a/manifest.json,a/b/c/d/e/f,' a/manifest.json
	refused
	ln -s /etc/passwd evil/a/link
	pack_of 's,x,x,' a/link
	refused
	mkfifo evil/a/fifo
	pack_of 's,x,x,' a/fifo
	refused
	mkdir -p evil/a/blobs/99
	echo wrong >evil/a/blobs/99/99aa06d3014798d86001c324468d497f
	tar -C evil -cf - a/manifest.json a/blobs | zstd -q >pack
	run_sep hrr-cat --unpack -o out.hrr pack
	status_is 2
	err_is 'hrr-cat: pack: blobs/99/99aa06d3014798d86001c324468d497f is damaged: its bytes hash to another name'
	tar -C evil -cf - a/blobs/99/../99 --exclude '*' | zstd -q >pack
	run_sep hrr-cat --unpack -o out.hrr pack
	status_is 2
}
