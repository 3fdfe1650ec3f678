# Writes man/hrr-calls.7 from formats/hip.api:
#   awk -f formats/calls.awk formats/hip.api > man/hrr-calls.7
/^[ \t]*(#|$)/ || $1 == "enum" || $1 == "struct" || $1 == "layout" || $1 == "family" || $1 ~ /^wide/ { next }

function value(key,    s) {
	if (!match($0, "[| ]" key "=\"[^\"]*\"")) return ""
	s = substr($0, RSTART, RLENGTH); sub(/^[^"]*"/, "", s); sub(/"$/, "", s)
	return s
}

{
	rows++
	for (i = 1; i <= 3; i++) {
		why = value(i == 1 ? "not" : i == 2 ? "aside" : "noplay")
		if (why == "") continue
		if (!((i, why) in names)) reason[i, ++n[i]] = why
		names[i, why] = names[i, why] " " $1; count[i]++
	}
}

function list(i,    k, j, m, v, a, t) {
	for (k = 1; k <= n[i]; k++) # reasons, then names, by alphabet
		for (j = k; j > 1 && reason[i, j - 1] > reason[i, j]; j--) {
			t = reason[i, j]; reason[i, j] = reason[i, j - 1]; reason[i, j - 1] = t
		}
	print ".Bl -tag -width Ds"
	for (k = 1; k <= n[i]; k++) {
		print ".It " reason[i, k]
		m = split(names[i, reason[i, k]], v, " ")
		for (a = 2; a <= m; a++)
			for (j = a; j > 1 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
		for (a = 1; a <= m; a++) print v[a] (a < m ? "," : ".")
	}
	print ".El"
}

END {
	print ".\\\" Written by formats/calls.awk from formats/hip.api. Do not edit."
	print ".Dd November 30, 2026\n.Dt HRR-CALLS 7\n.Os\n.Sh NAME\n.Nm hrr-calls\n.Nd HIP calls that are not recorded or not replayed, and why"
	print ".Sh DESCRIPTION"
	printf "Of the %d calls that\n.Xr hrr-capture 1\nknows, %d are recorded.\n", rows, rows - count[1] - count[2]
	print "The others are passed on to the run time and counted in the end record of the stream\n.Pq Xr hrr-events 5 ."
	print "A call that is no call of the table is passed on and not counted."
	print ".Ss Not recorded"
	print "Something may be missing without them, so a replay of a stream with such calls cannot say"
	print ".Sq matched ."
	list(1)
	print ".Ss Aside"
	print "They do nothing to memory, work or handles, so nothing is missing without them."
	list(2)
	print ".Ss Recorded, and refused by replay"
	list(3)
	print ".Sh SEE ALSO\n.Xr hrr-capture 1 ,\n.Xr hrr-play 1 ,\n.Xr hrr-events 5"
}
