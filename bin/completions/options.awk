# Options out of a program's -h: one a line, what it takes, what it is for.
function option(o, takes, text) {
	if (o in seen) {
		if (kind[o] == "")
			kind[o] = takes
		if (about[o] == "")
			about[o] = text
		return
	}
	seen[o] = 1
	order[n++] = o
	kind[o] = takes
	about[o] = text
}
function word(s) { # a name for what is taken: capitals only
	sub(/[^A-Z].*/, "", s)
	return s
}
# Every option in a text: "-b DIR", "[-cqx]", "--memcheck[=…]".
function scan(s, text,    o, rest, takes, i) {
	while (match(s, /(^|[][ (|,])-(-[a-z0-9-]+|[A-Za-z0-9]+)/)) {
		o = substr(s, RSTART, RLENGTH)
		sub(/^[^-]/, "", o)
		rest = substr(s, RSTART + RLENGTH)
		takes = ""
		if (rest ~ /^ [A-Z][A-Z]*/)
			takes = word(substr(rest, 2))
		if (o ~ /^--/ || length(o) == 2)
			option(o, takes, text)
		else
			for (i = 2; i <= length(o); i++)
				option("-" substr(o, i, 1), i == length(o) ? takes : "", text)
		s = substr(s, RSTART + RLENGTH)
	}
}
$1 == "usage:" || $1 == "or:" {
	if (prog == "hrr-regions" && $3 ~ /^[a-z]+$/ && !($3 in commands)) {
		commands[$3] = 1
		print "command\t" $3
	}
}
/^$/ { body = 1 }
!body {
	sub(/^ *(usage|or): [a-z-]+/, "")
	scan($0, "")
	next
}
/^  -/ {
	text = $0
	sub(/^  /, "", text)
	head = text
	if (match(text, /   */)) {
		head = substr(text, 1, RSTART - 1)
		text = substr(text, RSTART + RLENGTH)
	} else if (match(text, /^(-.|--[a-z-]+)( [A-Z%:=]+)? [a-z]/)) {
		head = substr(text, 1, RLENGTH - 2)
		text = substr(text, RLENGTH)
	} else {
		text = ""
	}
	if (text == "") {
		held = head
		next
	}
	scan(head, text)
	next
}
held != "" {
	sub(/^ +/, "")
	scan(held, $0)
	held = ""
}
END {
	option("-h", "", "how it is used")
	option("--help", "", "how it is used")
	option("--version", "", "the version")
	for (i = 0; i < n; i++)
		printf "%s\t%s\t%s\n", order[i], kind[order[i]], about[order[i]]
}
