# killcheck.awk LOG EVENTS: every line of LOG ({"api":A,"args":{…flat…}}) is a call
# of EVENTS with these arguments, in this order. Prints what is missing; exit 1.
FNR == NR {
	if ($0 !~ /}}$/)
		next # the write itself was cut: the call is not said to have returned
	n++
	match($0, /"api":"[^"]*"/)
	api[n] = substr($0, RSTART, RLENGTH)
	args = $0
	sub(/^.*"args":{/, "", args)
	sub(/}}$/, "", args)
	log_args[n] = args
	next
}
!begun { begun = 1; at = 1 }
at <= n && index($0, "{\"seq\":") == 1 && index($0, api[at]) {
	k = split(log_args[at], v, ",")
	for (i = 1; i <= k; i++)
		if (!index($0, v[i]))
			next
	at++
}
END {
	if (!begun)
		at = 1
	if (at <= n) {
		printf "call %d of %d that returned is missing: %s %s\n", at, n, api[at], log_args[at]
		exit 1
	}
	print n " calls"
}
