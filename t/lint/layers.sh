#!/bin/sh
# Who includes whom. Prints one line per wrong include line, exit 1 when there is one.
#   lib/X includes of lib only what stands before it in the order, and nothing of formats
#   formats/* includes lib/base to lib/region, but not hip's entry points, and formats; bin and t anything
#   jansson.h, xxhash.h and LLVM's headers have one file each that includes them
# Include lines name a file from the top of the tree, or one that gen.awk writes.
# usage: layers.sh [TREE]
cd "${1:-.}" || exit 2
files=$(find bin lib formats t -name '*.[chS]' -o -path 'bin/*.inc' | sort)
# shellcheck disable=SC2086
awk -v folders='base stream store hip region diff replay preload collect emu cuda' \
    -v gen="$(sed -n '/^GEN :=/,/[^\\]$/p' Makefile 2>/dev/null | tr -c 'a-zA-Z0-9_.' ' ')" '
BEGIN {
	n = split(folders, f, " ")
	for (i = 1; i <= n; i++)
		rank[f[i]] = i
	n = split(gen, g, " ")
	for (i = 1; i <= n; i++)
		generated[g[i]] = 1
}
function bad(why) {
	printf "%s:%d: %s: %s\n", FILENAME, FNR, inc, why
	wrong = 1
}
function once(lib) {
	if (!((lib, FILENAME) in seen)) {
		seen[lib, FILENAME] = 1
		users[lib] = users[lib] " " FILENAME
		count[lib]++
	}
}
/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
	match($0, /[<"][^>"]*[>"]/)
	quoted = substr($0, RSTART, 1) == "\""
	inc = substr($0, RSTART + 1, RLENGTH - 2)
	split(FILENAME, at, "/")
	if (inc == "jansson.h" || inc == "xxhash.h")
		once(inc)
	if (inc ~ /^llvm(-c)?\//)
		once("LLVM")
	if (!quoted || at[1] == "t" && at[2] == "apps")
		next
	if (inc ~ /\.\./) {
		bad("names a folder above it")
		next
	}
	split(inc, to, "/")
	if (inc in generated)
		next
	if (to[1] != "lib" && to[1] != "formats" && to[1] != "bin" && to[1] != "t") {
		bad("is not named from the top of the tree")
		next
	}
	if (at[1] == "lib") {
		if (!(at[2] in rank))
			bad("lib/" at[2] " has no place in the order")
		else if (to[1] != "lib")
			bad("lib uses nothing of " to[1])
		else if (!(to[2] in rank))
			bad("lib/" to[2] " has no place in the order")
		else if (rank[to[2]] > rank[at[2]])
			bad("lib/" at[2] " stands before lib/" to[2])
	} else if (at[1] == "formats") {
		# What calls and code objects look like is data; calling HIP is not for them.
		if (to[1] == "lib" ? rank[to[2]] == 0 || rank[to[2]] > rank["region"] || inc == "lib/hip/entry.h" : to[1] != "formats")
			bad("formats use lib/base to lib/region only, and never call HIP")
	} else if (at[1] == "bin" && to[1] == "t") {
		bad("programs use nothing of the tests")
	}
}
END {
		for (l in count)
		if (count[l] > 1) {
			print l " is included by more than one file:" users[l]
			wrong = 1
		}
	exit wrong
}' $files
