# jq -nr --slurpfile a STREAM --slurpfile b BACK --rawfile lost MESSAGES -f t/12-hrr.jq
# BACK is STREAM written as an upstream archive and read again; MESSAGES is what hrr-cat said is not
# held. Prints every difference that was not said, and nothing when all were.
def succeeded: .ret == null or (.ret | type == "string" and startswith("0x")) or
	(.api | test("^hip(GetError(Name|String)|ApiName|KernelNameRef)"));
def calls: map(select(.seq != null and succeeded));
[$lost | split("\n")[] | select(. != "") | sub("^.*: not held: "; "") | sub(" \\([0-9]+ times\\)$"; "")] as $said |
def told($texts): any($texts[]; . as $t | any($said[]; . == $t or startswith($t + " past")));
def fields($api; $x; $y): (($x + $y) | keys[]) as $k | select($x[$k] != $y[$k]) | $k;
($a | calls) as $o | ($b | calls) as $n |
(reduce range($o | length) as $i ({}; .["\($o[$i].seq)"] = $i)) as $at |
(if ($o | length) != ($n | length) then "\($o | length) calls became \($n | length)" else
	range($o | length) as $i | $o[$i] as $x | $n[$i] as $y | $x.api as $api |
	(if $api != $y.api then
		select(told(["\($api): that it was not \($y.api)"]) | not) | "\($api): is \($y.api)"
	else
		fields($api; $x.args // {}; $y.args // {}) as $k |
		select(told(["\($api): \($k)", "\($api): the text of \($k)", "\($api): what \($k) points to", "\($api): elements of \($k)"]) | not) |
		select((["f", "function_address"] | index($k) | not) or (told(["\($api): which function or stub named the kernel"]) | not)) |
		"\($api): argument \($k)"
	end),
	(fields($api; $x.kernel // {}; $y.kernel // {}) as $k | "\($api): \($k) of its kernel"),
	(if $x.ret != $y.ret and (told(["\($api): the text it returned"]) | not) then "\($api): value" else empty end),
	(if $x.tid != $y.tid or $x.symbol != $y.symbol then "\($api): thread or symbol" else empty end),
	(if $x.t - $o[0].t != $y.t - $n[0].t then "\($api): time" else empty end),
	(if $x.dir != $y.dir and (told(["\($api): its direction"]) | not) then "\($api): direction" else empty end),
	# A container may come to stand where it was registered: upstream has it there.
	(if $x.blobs != $y.blobs and $x.blobs != null and (told(["\($api): the bytes it read"]) | not) then "\($api): blobs" else empty end),
	(if $x.host != $y.host and (told(["\($api): host memory as it was before the call"]) | not) then "\($api): host" else empty end)
end),
([$a[] | select(.output != null) | {at: $at["\(.output)"], node, addr, size, blob, width, height, depth, pitch, slice, unknown}] as $p |
 [$b[] | select(.output != null) | {at: (.output - 1), node, addr, size, blob, width, height, depth, pitch, slice, unknown}] as $q |
 (($p - $q)[] | if .node != null then "output of a graph" elif .unknown != null then "a copy to the host whose bytes the stream does not hold" else "output of a call whose record has no place for it" end | select(told([.]) | not)),
 (($q - $p)[] | select(.unknown == null) | "an output too many: \(.addr)")),
([$a[] | select(.region != null) | del(.t)] as $p | [$b[] | select(.region != null) | del(.t)] as $q | if $p == $q then empty else "regions" end)
