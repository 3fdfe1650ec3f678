# Writes C that compiles only where formats/hip.api agrees with the HIP headers:
# number and kind of each call's parameters, size and offsets of each structure.
#   awk -f t/lint/proto.awk -v names=FILE formats/hip.api
# names: what the headers declare, one a line; rows of later majors are not there.
BEGIN {
	while ((getline line < names) > 0) declared[line] = 1
	print "#include <stddef.h>\n#include <stdint.h>\n#include <hip/hip_runtime_api.h>"
	print "int checked_calls, checked_structs;\nint check(void);\nint check(void)\n{\n\tunsigned long n = 0;"
	tag["hipIpcMemHandle_st"] = tag["hipIpcEventHandle_st"] = tag["hipLaunchParams_t"] = tag["hipFuncAttributes"] = tag["hipUUID_t"] = 1
	scalar = "^(int|uint|flags|u8|u16|u32|u64|size|float|device)$"
}
function cname(s) { return (s in tag) ? "struct " s : s }
/^[ \t]*(#|$)/ || $1 == "enum" || $1 == "layout" || $1 == "family" || $1 ~ /^wide/ { next }
$1 == "struct" {
	if (!($2 in declared)) next
	printf "\t_Static_assert(sizeof(%s) == %s, \"%s\");\n", cname($2), $3, $2
	for (i = 4; i <= NF; i++) {
		c = index($i, ":"); at = index($i, "@")
		printf "\t_Static_assert(offsetof(%s, %s) == %s, \"%s\");\n", cname($2), substr($i, 1, c - 1), substr($i, at + 1), $i
	}
	structs++
	next
}
{
	if (!($1 in declared) || $0 ~ /sym=/ || $2 == "-") next
	s = ""; n = 0
	for (i = 2; i <= NF && $i != "|"; i++) {
		r = substr($i, index($i, ":") + 1)
		k = r; sub(/\[.*/, "", k); arg = ""
		if (match(k, /\(.*\)/)) { arg = substr(k, RSTART + 1, RLENGTH - 2); k = substr(k, 1, RSTART - 1) }
		if (r ~ /^(>|<>)/ || r ~ /\]$/) x = "(void *)0"
		else if (k ~ scalar) x = "n" # a number where the header has a pointer is an error
		else if (k == "enum") x = "0 * n"
		else if (k == "dim3") x = "(dim3){0}"
		else if (k == "value") x = "(" cname(arg) "){0}"
		else x = "(void *)&n"
		s = s (n++ ? ", " : "") x
	}
	printf "\t(void)sizeof((%s(%s)), 0);\n", $1, s
	calls++
}
END { printf "\tchecked_calls = %d;\n\tchecked_structs = %d;\n\treturn (int)n;\n}\n", calls, structs; print calls, structs > "/dev/stderr" }
