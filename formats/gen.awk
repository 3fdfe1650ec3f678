# Writes everything derived from formats/hip.api into the folder `out`.
#   awk -f formats/gen.awk -v out=DIR formats/hip.api
# The grammar is described at the top of hip.api. A row that does not follow it
# stops the build with its line number.

function die(why) {
	printf "%s:%d: %s\n", FILENAME, FNR, why > "/dev/stderr"
	failed = 1
	exit 1
}

BEGIN {
	ct["int"] = ct["device"] = "int"; ct["uint"] = ct["flags"] = "unsigned int"
	ct["u8"] = "unsigned char"; ct["u16"] = "unsigned short"; ct["u32"] = "uint32_t"; ct["u64"] = "uint64_t"
	ct["size"] = "size_t"; ct["float"] = "float"; ct["dim3"] = "dim3"; ct["str"] = "const char *"; ct["chars"] = "char"
	n = split("dev host addr hint symbol stub image fn ptr", a)
	for (i = 1; i <= n; i++) ct[a[i]] = "void *"
	ct["kparams"] = ct["extra"] = "void **"
	nh = split("stream event module function graph exec node pool array mipmap ctx memhandle fatbin texobj extsem extmem gfx", handle)
	nt = split("hipStream_t hipEvent_t hipModule_t hipFunction_t hipGraph_t hipGraphExec_t hipGraphNode_t hipMemPool_t hipArray_t hipMipmappedArray_t hipCtx_t hipMemGenericAllocationHandle_t hipFatBinary_t hipTextureObject_t hipExternalSemaphore_t hipExternalMemory_t hipGraphicsResource_t", htype)
	for (i = 1; i <= nh; i++) { ct[handle[i]] = htype[i]; ishandle[handle[i]] = 1 }
	ndoes = split("init current capture endcapture askcapture launch waitvalue", a)
	for (i = 1; i <= ndoes; i++) isdoes[a[i]] = 1
	nrow = nenum = nstruct = 0
}


/^[ \t]*(#|$)/ { next }

$1 == "enum" {
	enumno[$2] = ++nenum; enumname[nenum] = $2; enumvals[nenum] = ""
	for (i = 3; i <= NF; i++) enumvals[nenum] = enumvals[nenum] " " $i
	next
}

$1 == "wide" || $1 == "wide5" {
	for (i = 2; i <= NF; i++) {
		if (!($i in enumno)) die("unknown enumeration " $i)
		enumwide[enumno[$i]] = $1 == "wide" ? 9 : 5
	}
	next
}

$1 == "family" {
	if ($2 in familyno || $2 !~ /^[a-z]+$/ || NF < 3) die("family: " $2)
	familyno[$2] = ++nfamily; familyname[nfamily] = $2; familyglobs[nfamily] = ""
	for (i = 3; i <= NF; i++) {
		if ($i !~ /^[A-Za-z0-9_*]+$/) die("family: not a glob: " $i)
		familyglobs[nfamily] = familyglobs[nfamily] (i > 3 ? " " : "") $i
	}
	next
}

$1 == "struct" {
	structno[$2] = ++nstruct; structname[nstruct] = $2; structsize[nstruct] = $3
	structf[nstruct] = ""
	for (i = 4; i <= NF; i++) structf[nstruct] = structf[nstruct] " " $i
	next
}

$1 == "layout" {
	if (!($2 in structno) || !($3 in structno)) die("unknown structure in " $0)
	later[structno[$2]] = structno[$3]; since[structno[$2]] = $4
	next
}

# Takes "(ARG)" off the end of k; sets kindarg, returns the rest.
function unarg(k) {
	kindarg = ""
	if (match(k, /\([A-Za-z0-9_]+\)$/)) {
		kindarg = substr(k, RSTART + 1, RLENGTH - 2); k = substr(k, 1, RSTART - 1)
	}
	return k
}

# Splits a ROLE into flow, kind, kindarg, count.
function role(r) {
	flow = "IN"
	if (sub(/^<>/, "", r)) flow = "INOUT"
	else if (sub(/^>>/, "", r)) flow = "GIVEN"
	else if (sub(/^>/, "", r)) flow = "OUT"
	count = ""
	if (match(r, /\[[A-Za-z0-9_]+\]$/)) {
		count = substr(r, RSTART + 1, RLENGTH - 2); r = substr(r, 1, RSTART - 1)
	}
	kind = unarg(r)
	if (kind == "enum") { if (!(kindarg in enumno)) die("unknown enumeration " kindarg) }
	else if (kind == "struct" || kind == "value") { if (!(kindarg in structno)) die("unknown structure " kindarg) }
	else if (!(kind in ct)) die("unknown kind " kind)
}

function star(t) { return t (t ~ /\*$/ ? "*" : " *") }
function space(t) { return t (t ~ /\*$/ ? "" : " ") }

function ctype(    t) { # after role()
	t = kind == "enum" ? "int" : (kind == "struct" || kind == "value") ? "struct " kindarg : ct[kind]
	if (kind == "struct") return t " *"
	if (kind == "kparams" || kind == "extra") return t
	if (flow == "GIVEN") return star(star(t))
	return (flow != "IN" || count != "") ? star(t) : t
}

{
	bar = index($0, "|")
	if (!bar) die("no | in a row")
	left = substr($0, 1, bar - 1); right = substr($0, bar + 1)
	np = split(left, f, /[ \t]+/)
	while (np > 0 && f[np] == "") np--
	r = ++nrow
	name[r] = f[1]; if (name[r] in rowno) die("twice: " name[r]); rowno[name[r]] = r
	sym[r] = name[r]; ret[r] = "error"; typed[r] = 1; nparam[r] = 0
	cls[r] = "misc"; ver[r] = ""; major[r] = 5; sync[r] = "none"; failc[r] = "reissue"; rel[r] = ""; why[r] = ""; noplay[r] = ""; aside[r] = 0
	gives[r] = ""; takes[r] = "alloc"; records[r] = ""; varies[r] = ""; alters[r] = ""; unit[r] = 1; node[r] = ""; does[r] = "nothing"
	id[r] = -1; id3[r] = -1; wire[r] = ""
	for (i = 2; i <= np; i++) {
		if (f[i] == "-") { typed[r] = 0; continue }
		c = index(f[i], ":"); if (!c) die("parameter without role: " f[i])
		k = ++nparam[r]
		pname[r, k] = substr(f[i], 1, c - 1)
		role(substr(f[i], c + 1))
		pflow[r, k] = flow; pkind[r, k] = kind; parg[r, k] = kindarg; pcount[r, k] = count; pctype[r, k] = ctype()
	}
	while (match(right, /[a-z][a-z0-9]*=("[^"]*"|[^ \t"]+)/)) {
		kv = substr(right, RSTART, RLENGTH); right = substr(right, 1, RSTART - 1) substr(right, RSTART + RLENGTH)
		eq = index(kv, "="); key = substr(kv, 1, eq - 1); v = substr(kv, eq + 1); gsub(/"/, "", v)
		if (key == "class") cls[r] = v
		else if (key == "ver") ver[r] = v
		else if (key == "sym") sym[r] = v
		else if (key == "ret") ret[r] = v
		else if (key == "release") rel[r] = v
		else if (key == "gives") gives[r] = v
		else if (key == "takes") takes[r] = v
		else if (key == "does") { if (!(v in isdoes)) die("unknown does=" v); does[r] = v }
		else if (key == "records") records[r] = v
		else if (key == "varies") varies[r] = v
		else if (key == "alters") alters[r] = v
		else if (key == "unit") unit[r] = v
		else if (key == "node") node[r] = v
		else if (key == "sync") sync[r] = v
		else if (key == "fail") failc[r] = v
		else if (key == "not") why[r] = v
		else if (key == "aside") { why[r] = v; aside[r] = 1 }
		else if (key == "noplay") noplay[r] = v
		else if (key == "major") major[r] = v
		else if (key == "id") id[r] = v
		else if (key == "v3") id3[r] = v
		else if (key == "hrr") wire[r] = v
		else die("unknown property " key)
	}
	if (right ~ /[^ \t]/) die("cannot read: " right)
	if (!typed[r] && why[r] == "") die("a recorded call needs its parameters")
}

function rtype(r) {
	if (ret[r] == "error") return "hipError_t"
	if (ret[r] == "void") return "void"
	if (ret[r] == "int") return "int"
	if (ret[r] == "str") return "const char *"
	if (ret[r] == "fatbin") return "hipFatBinary_t"
	if (ret[r] == "struct") return "struct hipChannelFormatDesc"
	die("unknown return " ret[r])
}
function params(r,    s, k) {
	if (nparam[r] == 0) return "void"
	s = ""
	for (k = 1; k <= nparam[r]; k++) s = s (k > 1 ? ", " : "") space(pctype[r, k]) pname[r, k]
	return s
}
function recorded(r) { return why[r] == "" && typed[r] }
function banner(file) { print "/* Written by formats/gen.awk from formats/hip.api. Do not edit. */" > file }
function isword(r, k) { return !(pctype[r, k] == "dim3" || pkind[r, k] == "value") }
function isptr(r, k) { return pctype[r, k] ~ /\*$/ || (pkind[r, k] in ishandle) }

# Value of an enumerator in a major: "V5/V6/V7" or one for all; "-" where missing.
function enumval(spec, m,    p, n) {
	n = split(spec, p, "/")
	return n == 1 ? p[1] : p[m - 4]
}

function write_ids(    o, r, i) {
	o = out "/hip_ids.h"; banner(o)
	print "#ifndef HRR_HIP_IDS_H\n#define HRR_HIP_IDS_H\nenum hrr_api {" > o
	for (r = 1; r <= nrow; r++) printf "\tHRR_API_%s,\n", name[r] > o
	print "\tHRR_API_COUNT\n};\n\nenum hrr_class {" > o
	for (r = 1; r <= nrow; r++) if (!(cls[r] in clsno)) {
		clsno[cls[r]] = ++ncls; clsname[ncls] = cls[r]
		printf "\tHRR_CLASS_%s,\n", toupper(cls[r]) > o
	}
	print "\tHRR_CLASS_COUNT\n};\n\nenum hrr_handle {\n\tHRR_H_NONE," > o
	for (i = 1; i <= nh; i++) printf "\tHRR_H_%s,\n", toupper(handle[i]) > o
	print "\tHRR_H_COUNT\n};\n#endif" > o
	close(o)
}

# C type, bytes and alignment of a structure's field kind, into ft, farr, fsz, fal.
function fieldtype(k) {
	farr = ""
	if (k == "enum" || k == "int") { ft = "int"; fsz = fal = 4 }
	else if (k == "chars" || k == "bytes") { ft = k == "chars" ? "char" : "unsigned char"; farr = "[" kindarg "]"; fsz = kindarg; fal = 1 }
	else if (k == "ints") { ft = "int"; farr = "[" kindarg "]"; fsz = 4 * kindarg; fal = 4 }
	else if (k == "dim3") { ft = "dim3"; fsz = 12; fal = 4 }
	else if (k == "u8") { ft = ct[k]; fsz = fal = 1 }
	else if (k == "u16") { ft = ct[k]; fsz = fal = 2 }
	else if (k ~ /^(uint|u32|float|flags)$/) { ft = ct[k]; fsz = fal = 4 }
	else { ft = ct[k]; fsz = fal = 8 }
}

# A field's role without "[BY]", the field that counts an array it points to, into fby.
function fieldrole(k) {
	fby = ""
	if (match(k, /\[[A-Za-z0-9_.]+\]$/)) { fby = substr(k, RSTART + 1, RLENGTH - 2); k = substr(k, 1, RSTART - 1) }
	k = unarg(k)
	if (fby == "") fieldtype(k)
	else {
		if (k == "struct") { if (!(kindarg in structno)) die("unknown structure " kindarg); ft = "struct " kindarg " *" }
		else { fieldtype(k); ft = star(ft) }
		farr = ""; fsz = fal = 8
	}
	return k
}

# Index from 0 of a field of a structure.
function fieldno(s, f,    n, v, i) {
	n = split(structf[s], v, " ")
	for (i = 1; i <= n; i++) if (substr(v[i], 1, index(v[i], ":") - 1) == f) return i - 1
	print "hip.api: " structname[s] ": no field " f > "/dev/stderr"; exit 1
}

function tabs(n,    t) { t = "\n"; while (n-- >= 0) t = t "\t"; return t }

# A dot in a field's name opens a structure inside.
function write_struct(o, s,    n, v, i, off, pad, depth, d, np, p, open, fn, c, at, k, fo, need) {
	printf "struct %s {", structname[s] > o
	n = split(structf[s], v, " "); off = 0; pad = 0; depth = 0
	for (i = 1; i <= n; i++) {
		c = index(v[i], ":"); at = index(v[i], "@")
		fn = substr(v[i], 1, c - 1); fo = substr(v[i], at + 1) + 0
		k = fieldrole(substr(v[i], c + 1, at - c - 1))
		np = split(fn, p, ".")
		for (d = 0; d < depth && d < np - 1 && open[d + 1] == p[d + 1]; d++) ;
		for (; depth > d; depth--) printf "%s} %s;", tabs(depth - 1), open[depth] > o
		need = off; if (need % fal) need += fal - need % fal
		if (fo > need) { printf "%sunsigned char pad%d[%d];", tabs(depth), ++pad, fo - off > o; off = fo }
		for (; depth < np - 1; depth++) { printf "%sstruct {", tabs(depth) > o; open[depth + 1] = p[depth + 1] }
		printf "%s%s%s%s;", tabs(depth), space(ft), p[np], farr > o
		off = fo + fsz
	}
	for (; depth > 0; depth--) printf "%s} %s;", tabs(depth - 1), open[depth] > o
	if (structsize[s] - off >= 8) printf "\n\tunsigned char padend[%d];", structsize[s] - off > o
	printf "\n};\n_Static_assert(sizeof(struct %s) == %d, \"size of %s\");\n", structname[s], structsize[s], structname[s] > o
	for (i = 1; i <= n; i++) {
		c = index(v[i], ":"); at = index(v[i], "@"); fn = substr(v[i], 1, c - 1)
		printf "_Static_assert(offsetof(struct %s, %s) == %s, \"%s\");\n", structname[s], fn, substr(v[i], at + 1), fn > o
	}
}

function write_proto(    o, r, e, s, i, n, v, eq, x, m, spec) {
	o = out "/hip_proto.h"; banner(o)
	print "#ifndef HRR_HIP_PROTO_H\n#define HRR_HIP_PROTO_H\n#include <stddef.h>\n#include <stdint.h>\n" > o
	print "/* The HIP C ABI as far as hip.api describes it (x86-64 SysV: enumerations are int). */" > o
	print "typedef int hipError_t;\ntypedef struct dim3 {\n\tuint32_t x, y, z;\n} dim3;" > o
	for (i = 1; i <= nh; i++) printf "typedef struct hrr_opaque_%s *%s;\n", handle[i], htype[i] > o
	for (e = 1; e <= nenum; e++) {
		n = split(enumvals[e], v, " ")
		print "enum {" > o
		for (i = 1; i <= n; i++) {
			eq = index(v[i], "=")
			x = substr(v[i], 1, eq - 1); spec = substr(v[i], eq + 1)
			if (spec ~ /\//) { # differs by major
				for (m = 5; m < 7 && enumval(spec, m) == "-"; m++) ;
				printf "\t%s = %s,\n", x, enumval(spec, m) > o
				for (m = 5; m <= 7; m++) if (enumval(spec, m) != "-") printf "\t%s_%d = %s,\n", x, m, enumval(spec, m) > o
			} else printf "\t%s = %s,\n", x, spec > o
		}
		printf "\thrr_end_%s = 0\n};\n", enumname[e] > o
	}
	for (s = 1; s <= nstruct; s++) write_struct(o, s)
	print "\n/* One function type per described call; the CPU run time defines emu_NAME. */" > o
	for (r = 1; r <= nrow; r++) if (typed[r]) printf "typedef %s(*hrr_fn_%s)(%s);\n", space(rtype(r)), name[r], params(r) > o
	print "#ifdef HRR_EMU_DECLARE" > o
	for (r = 1; r <= nrow; r++)
		printf "__attribute__((visibility(\"default\"))) %semu_%s(%s);\n", (typed[r] ? space(rtype(r)) : "hipError_t "), name[r], (typed[r] ? params(r) : "void") > o
	print "#endif\n#endif" > o
	close(o)
}

# Index of a row's parameter; -1 for "".
function param_of(r, p,    k) {
	if (p == "") return -1
	for (k = 1; k <= nparam[r]; k++) if (pname[r, k] == p) return k - 1
	print "hip.api: " name[r] ": no parameter " p > "/dev/stderr"
	exit 1
}

# gives=K:A,S as a struct hrr_gives.
# One bit per parameter.
function altered(r,    n, k, p, list, bits) {
	n = split(alters[r], list, ",")
	bits = 0
	for (k = 1; k <= n; k++) {
		p = param_of(r, list[k])
		if (pflow[r, p + 1] == "OUT" || !(pkind[r, p + 1] in ishandle)) {
			print "hip.api: " name[r] ": no handle it is given: " list[k] > "/dev/stderr"
			exit 1
		}
		bits += 2 ^ p
	}
	return bits
}
function gift(r,    c, k, a, s, n, p, i) {
	if (gives[r] == "") return "{0}"
	c = index(gives[r], ":"); k = substr(gives[r], 1, c - 1)
	n = split(substr(gives[r], c + 1), p, ",")
	if (n != 2 || !(k ~ /^(alloc|map|reserve|name)$/)) { print "hip.api: " name[r] ": cannot read gives=" gives[r] > "/dev/stderr"; exit 1 }
	a = p[1]; s = p[2]
	i = param_of(r, substr(a, 1, (index(a, ".") ? index(a, ".") : length(a) + 1) - 1))
	n = split(s, p, "*")
	for (c = 1; c <= n; c++) param_of(r, substr(p[c], 1, (index(p[c], ".") ? index(p[c], ".") : length(p[c]) + 1) - 1))
	return "{HRR_GIVES_" toupper(k) ", " i ", \"" a "\", \"" s "\"}"
}

function write_table(    o, r, e, s, i, j, k, n, v, c, at, m, x, ci, ri, kk, eq, gap, t) {
	o = out "/hip_table.inc"; banner(o)
	for (e = 1; e <= nenum; e++) {
		printf "static const struct hrr_enumerator values_%s[] = {\n", enumname[e] > o
		n = split(enumvals[e], v, " ")
		for (i = 1; i <= n; i++) {
			eq = index(v[i], "=")
			printf "\t{\"%s\", {", substr(v[i], 1, eq - 1) > o
			for (m = 5; m <= 7; m++) {
				x = enumval(substr(v[i], eq + 1), m)
				printf "%s%s", (m > 5 ? ", " : ""), (x == "-" ? "HRR_NO_VALUE" : x) > o
			}
			print "}}," > o
		}
		printf "};\nstatic const struct hrr_enum enum_%s = {\"%s\", %d, values_%s};\n", enumname[e], enumname[e], n, enumname[e] > o
	}
	for (s = 1; s <= nstruct; s++) if (s in later) printf "static const struct hrr_struct struct_%s;\n", structname[later[s]] > o
	for (s = 1; s <= nstruct; s++) {
		n = split(structf[s], v, " ")
		if (n) printf "static const struct hrr_field fields_%s[] = {\n", structname[s] > o
		for (i = 1; i <= n; i++) {
			c = index(v[i], ":"); at = index(v[i], "@")
			k = fieldrole(substr(v[i], c + 1, at - c - 1))
			kk = k in ishandle ? "HANDLE" : toupper(k)
			printf "\t{\"%s\", HRR_K_%s, %s, %s, %s, %s, %s, HRR_K_%s, %d},\n", substr(v[i], 1, c - 1), (fby != "" ? "PTR" : kk), \
				(k in ishandle ? "HRR_H_" toupper(k) : "HRR_H_NONE"), substr(v[i], at + 1), \
				(k ~ /^(chars|bytes|ints)$/ ? kindarg : 1), (k == "enum" ? "&enum_" kindarg : "NULL"), \
				(k == "struct" ? "&struct_" kindarg : "NULL"), kk, (fby != "" ? fieldno(s, fby) : -1) > o
		}
		if (n) print "};" > o
		printf "static const struct hrr_struct struct_%s = {\"%s\", %d, %d, %s, %d, %s};\n", structname[s], structname[s], structsize[s], n, (n ? "fields_" structname[s] : "NULL"), \
			since[s], (s in later ? "&struct_" structname[later[s]] : "NULL") > o
	}
	for (r = 1; r <= nrow; r++) if (nparam[r]) {
		printf "static const struct hrr_param params_%s[] = {\n", name[r] > o
		for (k = 1; k <= nparam[r]; k++) {
			ci = -1
			if (pcount[r, k] != "") {
				for (j = 1; j <= nparam[r]; j++) if (pname[r, j] == pcount[r, k]) ci = j - 1
				if (ci < 0) { print "hip.api: " name[r] ": no parameter " pcount[r, k] > "/dev/stderr"; exit 1 }
			}
			kk = pkind[r, k]
			printf "\t{\"%s\", HRR_FLOW_%s, HRR_K_%s, %s, %d, %s, %s},\n", pname[r, k], pflow[r, k], (kk in ishandle ? "HANDLE" : toupper(kk)), \
				(kk in ishandle ? "HRR_H_" toupper(kk) : "HRR_H_NONE"), ci, (kk == "enum" ? "&enum_" parg[r, k] : "NULL"), \
				(kk == "struct" || kk == "value" ? "&struct_" parg[r, k] : "NULL") > o
		}
		print "};" > o
	}
	print "const struct hrr_api_row hrr_api_table[HRR_API_COUNT] = {" > o
	for (r = 1; r <= nrow; r++) {
		ri = rel[r] == "*" ? -2 : param_of(r, rel[r])
		printf "\t[HRR_API_%s] = {\"%s\", \"%s\", %s, %d, HRR_RET_%s, HRR_CLASS_%s, HRR_SYNC_%s, HRR_FAIL_%s, HRR_DOES_%s, %d, HRR_GIVES_%s, %d, %d, %d, %d, %d, %s, %s, %s, %s, %s},\n", name[r], name[r], sym[r], \
			(nparam[r] ? "params_" name[r] : "NULL"), nparam[r], toupper(ret[r]), toupper(cls[r]), toupper(sync[r]), toupper(failc[r]), toupper(does[r]), ri, toupper(takes[r]), \
			param_of(r, records[r]), param_of(r, varies[r]), altered(r), unit[r], major[r], (typed[r] ? "true" : "false"), (aside[r] ? "true" : "false"), gift(r), \
			(why[r] == "" ? "NULL" : "\"" why[r] "\""), (noplay[r] == "" ? "NULL" : "\"" noplay[r] "\"") > o
	}
	print "};\nconst struct hrr_node_type hrr_node_types[] = {" > o
	for (r = 1; r <= nrow; r++) if (node[r] != "") {
		c = index(node[r], ",")
		printf "\t{HRR_API_%s, %s, %s},\n", name[r], (node[r] == "any" ? "HRR_NODE_ANY" : (c ? substr(node[r], 1, c - 1) : node[r]) "_6"), (c ? substr(node[r], c + 1) : 16) > o
	}
	print "\t{HRR_API_COUNT, HRR_NODE_ANY, 0}};" > o
	print "const char *const hrr_class_names[HRR_CLASS_COUNT] = {" > o
	for (i = 1; i <= ncls; i++) printf "\t\"%s\",\n", clsname[i] > o
	print "};\nconst char *const hrr_handle_names[HRR_H_COUNT] = {\n\t\"none\"," > o
	for (i = 1; i <= nh; i++) printf "\t\"%s\",\n", handle[i] > o
	print "};\nconst struct hrr_enum *const hrr_enums[] = {" > o
	for (e = 1; e <= nenum; e++) printf "\t&enum_%s,\n", enumname[e] > o
	print "\tNULL};\nconst struct hrr_struct *const hrr_structs[] = {" > o
	for (s = 1; s <= nstruct; s++) printf "\t&struct_%s,\n", structname[s] > o
	print "\tNULL};\nstatic const unsigned short by_name[HRR_API_COUNT] = {" > o
	for (r = 1; r <= nrow; r++) ord[r] = r
	for (gap = int(nrow / 2); gap > 0; gap = int(gap / 2))
		for (i = gap + 1; i <= nrow; i++) {
			t = ord[i]
			for (j = i; j > gap && name[ord[j - gap]] > name[t]; j -= gap) ord[j] = ord[j - gap]
			ord[j] = t
		}
	for (i = 1; i <= nrow; i++) printf "\tHRR_API_%s,\n", name[ord[i]] > o
	print "};" > o
	close(o)
}

# Arguments as 64-bit words: scalars widened, pointers and handles as numbers,
# dim3 and structures by value as the address of one.
function write_invoke(    o, r, k, s, x, t, call) {
	o = out "/hip_invoke.inc"; banner(o)
	for (r = 1; r <= nrow; r++) if (typed[r] && ret[r] != "struct") {
		s = ""
		for (k = 1; k <= nparam[r]; k++) {
			t = pctype[r, k]; x = "a[" (k - 1) "]"
			if (!isword(r, k)) x = "*(" t " *)(uintptr_t)" x
			else if (t == "float") x = "hrr_word_float(" x ")"
			else if (isptr(r, k)) x = "(" t ")(uintptr_t)" x
			else x = "(" t ")" x
			s = s (k > 1 ? ", " : "") x
		}
		printf "case HRR_API_%s:\n", name[r] > o
		call = "((hrr_fn_" name[r] ")fn)(" s ")"
		if (ret[r] == "void") printf "\t%s;\n\treturn 0;\n", call > o
		else if (ret[r] == "str" || ret[r] == "fatbin") printf "\treturn (int64_t)(intptr_t)%s;\n", call > o
		else printf "\treturn %s;\n", call > o
	}
	close(o)
}

# The interposer: recorded calls get a typed shim, the others a counting jump.
function write_shims(    o, r, k, s, w, x) {
	o = out "/preload_shims.inc"; banner(o)
	for (r = 1; r <= nrow; r++) if (recorded(r)) {
		s = ""; w = ""
		for (k = 1; k <= nparam[r]; k++) {
			x = pname[r, k]
			w = w (k > 1 ? ", " : "") (!isword(r, k) ? "(uintptr_t)&" x : isptr(r, k) ? "(uintptr_t)" x : "(uint64_t)" x)
			s = s (k > 1 ? ", " : "") x
		}
		printf "HRR_SHIM %s%s(%s)\n{\n\tstruct hrr_call c;\n\tuint64_t a[] = {%s};\n", space(rtype(r)), sym[r], params(r), (w == "" ? "0" : w) > o
		print "\tc.from = __builtin_return_address(0);" > o
		printf "\thrr_fn_%s real = (hrr_fn_%s)hrr_shim_enter(&c, HRR_API_%s, a);\n", name[r], name[r], name[r] > o
		if (ret[r] == "void") printf "\tif (real != NULL)\n\t\treal(%s);\n\thrr_shim_leave(&c, 0);\n}\n\n", s > o
		else if (ret[r] == "str" || ret[r] == "fatbin")
			printf "\t%sret = NULL;\n\tif (real != NULL)\n\t\tret = real(%s);\n\thrr_shim_leave(&c, (int64_t)(intptr_t)ret);\n\treturn ret;\n}\n\n", space(rtype(r)), s > o
		else printf "\t%sret = hipErrorNotSupported;\n\tif (real != NULL)\n\t\tret = real(%s);\n\thrr_shim_leave(&c, ret);\n\treturn ret;\n}\n\n", space(rtype(r)), s > o
	}
	close(o)
	o = out "/preload_tramp.S"; banner(o)
	print "#include \"lib/preload/tramp.h\"" > o
	pn = out "/preload_names.txt"
	for (r = 1; r <= nrow; r++) if (sym[r] !~ /^(__gnu|amd_dbgapi|__hipGetPCH)/) {
		if (!recorded(r)) printf "TRAMP(%s, %d)\n", sym[r], r - 1 > o
		print sym[r] > pn
	}
	print "\t.section .note.GNU-stack,\"\",@progbits" > o
	close(o); close(pn)
}

function write_emu(    o, r, k, i, n, vl, prev, any) {
	o = out "/emu_stubs.inc"; banner(o)
	for (r = 1; r <= nrow; r++) {
		printf "__attribute__((weak)) %semu_%s(%s)\n{\n", (typed[r] ? space(rtype(r)) : "hipError_t "), name[r], (typed[r] ? params(r) : "void") > o
		for (k = 1; k <= nparam[r]; k++) printf "\t(void)%s;\n", pname[r, k] > o
		if (ret[r] == "error" || ret[r] == "int" || !typed[r]) printf "\treturn emu_not_supported(\"%s\");\n}\n", name[r] > o
		else {
			printf "\temu_not_supported(\"%s\");\n", name[r] > o
			if (ret[r] == "struct") print "\treturn (struct hipChannelFormatDesc){0};" > o
			else if (ret[r] != "void") print "\treturn NULL;" > o
			print "}" > o
		}
	}
	close(o)
	o = out "/emu_names.inc"; banner(o)
	for (r = 1; r <= nrow; r++) printf "STANDIN(%s, emu_%s, %d)\n", sym[r], name[r], major[r] > o
	close(o)
	# Version nodes chain in order; every node is present, empty or not.
	n = split("4.2 4.3 4.4 4.5 5.0 5.1 5.2 5.3 5.5 5.6 6.0 6.1 6.2 6.4 6.5 7.1 7.2", vl, " ")
	o = out "/emu_versions.map"; prev = ""
	for (i = 1; i <= n; i++) {
		printf "hip_%s {\n", vl[i] > o
		any = 0
		for (r = 1; r <= nrow; r++) if (ver[r] == vl[i]) {
			if (!any++) print "global:" > o
			printf "\t%s;\n", sym[r] > o
		}
		if (i == 1) print "local:\n\t*;" > o
		printf "}%s;\n", (prev == "" ? "" : " " prev) > o
		prev = "hip_" vl[i]
	}
	close(o)
}

# Index from 0 of parameter p of row r.
function paramno(r, p,    k) {
	for (k = 1; k <= nparam[r]; k++) if (pname[r, k] == p) return k - 1
	print "hip.api: " name[r] ": hrr: no parameter " p > "/dev/stderr"; exit 1
}

# Upstream archives: numbers, and what departs from the rule (hrr="...").
function write_wire(    o, r, e, i, n, v, tok, since, p, c, what, field, size, arg, nx, wide, wide5, none, launch) {
	o = out "/hrr_wire.inc"; banner(o)
	print "static const struct hrr_wide_enum wide_enums[] = {" > o
	for (e = 1; e <= nenum; e++) if (enumwide[e]) printf "\t{\"%s\", %d},\n", enumname[e], enumwide[e] > o
	print "};" > o
	for (r = 1; r <= nrow; r++) {
		wide[r] = wide5[r] = none[r] = launch[r] = nx[r] = 0
		n = split(wire[r], v, " ")
		for (i = 1; i <= n; i++) {
			tok = v[i]; since = 3; p = -1; size = 0; arg = "0, NULL"
			if (sub(/^6:/, "", tok)) since = 6
			if (tok == "launch") { launch[r] = 1; continue }
			if (tok ~ /\.wide$/) { wide[r] += 2 ^ paramno(r, substr(tok, 1, length(tok) - 5)); continue }
			if (tok ~ /\.wide5$/) { wide5[r] += 2 ^ paramno(r, substr(tok, 1, length(tok) - 6)); continue }
			if (tok ~ /\.none$/) { none[r] += 2 ^ paramno(r, substr(tok, 1, length(tok) - 5)); continue }
			if ((c = index(tok, "=")) > 0) { p = paramno(r, substr(tok, 1, c - 1)); tok = substr(tok, c + 1) }
			what = tok; field = ""
			if ((c = index(tok, ".")) > 0) { field = substr(tok, 1, c - 1); what = substr(tok, c + 1) }
			if (match(what, /\([A-Za-z0-9_,]+\)$/)) {
				size = substr(what, RSTART + 1, RLENGTH - 2); what = substr(what, 1, RSTART - 1)
				if ((c = index(size, ",")) > 0) {
					arg = substr(size, c + 1); size = substr(size, 1, c - 1)
					arg = (arg in structno) ? "0, \"" arg "\"" : arg ", NULL"
				}
			}
			if (what == "in") { since = 6; p = paramno(r, field) }
			if (what !~ /^(in|bytes|u64|hash|d2h|co|node)$/) { print "hip.api: " name[r] ": hrr: " v[i] > "/dev/stderr"; exit 1 }
			if (!nx[r]++) printf "static const struct hrr_wire_extra extra_%s[] = {\n", name[r] > o
			printf "\t{\"%s\", HRR_W_%s, %d, %d, %d, %s},\n", field, toupper(what), since, p, size, arg > o
		}
		if (nx[r]) print "};" > o
	}
	print "static const struct hrr_wire_row wire_rows[HRR_API_COUNT] = {" > o
	for (r = 1; r <= nrow; r++) {
		printf "\t[HRR_API_%s] = {%d, %d, %s, %s, %d, %d, %d, %d, %s},\n", name[r], (id[r] ~ /^c/ ? substr(id[r], 2) : id[r]), id3[r], \
			(id[r] ~ /^c/ ? "true" : "false"), (launch[r] ? "true" : "false"), wide[r], wide5[r], none[r], nx[r], (nx[r] ? "extra_" name[r] : "NULL") > o
	}
	print "};" > o
	close(o)
}

# Families of selectors. A glob that fits no row is a slip of the pen.
function write_families(    o, f, g, n, v, i, r, re, fits) {
	o = out "/stream_families.h"; banner(o)
	print "#ifndef GEN_STREAM_FAMILIES_H\n#define GEN_STREAM_FAMILIES_H\n\nenum hrr_family {" > o
	for (f = 1; f <= nfamily; f++) printf "\tHRR_FAMILY_%s,\n", toupper(familyname[f]) > o
	print "};\n\n/* name, globs */\n#define HRR_FAMILIES \\" > o
	for (f = 1; f <= nfamily; f++) {
		n = split(familyglobs[f], v, " ")
		for (i = 1; i <= n; i++) {
			re = v[i]; gsub(/\*/, ".*", re); fits = 0
			for (r = 1; r <= nrow && !fits; r++) fits = name[r] ~ ("^" re "$")
			if (!fits) { print "hip.api: family " familyname[f] ": no call is " v[i] > "/dev/stderr"; exit 1 }
		}
		printf "\t{\"%s\", \"%s\"}%s\n", familyname[f], familyglobs[f], f < nfamily ? ", \\" : "" > o
	}
	print "\n#endif" > o
}

END {
	if (failed) exit 1
	write_ids(); write_proto(); write_table(); write_invoke(); write_shims(); write_emu(); write_wire(); write_families()
}
