# Options: what -h, the manual pages and the completions of bash and zsh say of them.
load helper

# complete PROG WORD...: what bash offers for the last word, one a line.
complete_in_bash() {
	bash --norc -c '. "$1"; shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_hrr "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
		printf "%s\n" "${COMPREPLY[@]}"' bash "$BUILD/share/hrr.bash" "$@"
}

# Options as a person reads -h: words that begin with one or two dashes, clusters taken apart.
options_of() {
	"$1" -h | grep -oE '(^|[][ (|,])-(-[a-z][a-z0-9-]*|[A-Za-z0-9]+)' | sed -E 's/^[^-]//' |
		while read -r o; do
			case $o in
			--*) echo "$o" ;;
			*) echo "${o#-}" | fold -w1 | sed 's/^/-/' ;;
			esac
		done | sort -u
}

@test "every option of each -h is offered by bash and known to zsh" {
	local p o offered
	for p in "$BUILD"/bin/hrr-*; do
		p=${p##*/}
		offered=$(complete_in_bash "$p" -)
		[ "$(options_of "$p" | wc -l)" -gt 5 ]
		awk -v p="$p)" '$0 == p { on = 1 } on; on && /;;/ { exit }' "$BUILD/share/_hrr" >zsh
		for o in $(options_of "$p"); do
			grep -qx -e "$o" <<<"$offered" || { echo "bash: $p $o"; return 1; }
			grep -qE -e "'\*$o=?\[" zsh || { echo "zsh: $p $o"; return 1; }
		done
	done
}

@test "every option of each -h has its place in the manual page, and no other has" {
	local p
	for p in "$BUILD"/bin/hrr-*; do
		p=${p##*/}
		options_of "$p" >told
		grep '^\.It Fl' "$ROOT/man/$p.1" | grep -oE 'Fl -?[A-Za-z0-9][a-z-]*' | sed 's/Fl /-/' | sort -u >described
		diff told described || { echo "$p: < -h, > page"; return 1; }
	done
}

@test "what an option takes is offered: calls of the table, families, devices, types" {
	complete_in_bash hrr-cat -e hipMemcpyA | grep -qx hipMemcpyAsync
	complete_in_bash hrr-cat -e @la | grep -qx @launch
	[ "$(complete_in_bash hrr-cat -e @s | tr '\n' ' ')" = '@set @stream @sync ' ]
	complete_in_bash hrr-play -d e | grep -qx emu
	complete_in_bash hrr-diff -t bf | grep -qx bf16
	complete_in_bash hrr-cat --format h | grep -qx hrr8
	complete_in_bash hrr-play --inject hipMal | grep -qx hipMalloc
}

@test "sub-commands of hrr-regions; archives are folders and files" {
	complete_in_bash hrr-regions ex | sort | tr '\n' ' ' >got
	[ "$(cat got)" = 'explain export ' ]
	[ "$(complete_in_bash hrr-regions '' | wc -l)" -eq "$(hrr-regions -h | grep -oE 'hrr-regions [a-z]+' | sort -u | wc -l)" ]
	mkdir run.hrr
	touch run.jsonl
	[ "$(complete_in_bash hrr-cat run | sort | tr '\n' ' ')" = 'run.hrr run.jsonl ' ]
	[ "$(complete_in_bash hrr-regions ls run.h)" = run.hrr ]
}

@test "hrr-capture: behind the command its own arguments" {
	touch data.txt
	[ "$(complete_in_bash hrr-capture -o a.hrr -- cat dat)" = data.txt ]
	complete_in_bash hrr-capture -o a.hrr -- mkdi | grep -qx mkdir
	[ "$(complete_in_bash hrr-capture -o a.hrr -- cat - | grep -c strict)" = 0 ]
	complete_in_bash hrr-capture -o a.hrr --st | grep -qx -e --strict
}

@test "zsh takes the file" {
	command -v zsh >/dev/null || skip 'no zsh here'
	zsh -n "$BUILD/share/_hrr"
}
