/* hrr-regions: tells a recording of device memory that HIP never saw. */
#include <stdlib.h>
#include <string.h>

#include "bin/regions.h"
#include "formats/torch/torch.h"

static const char usage[] =
    "usage: hrr-regions add --kind KIND --base ADDRESS --size N [--device N]\n"
    "                   [--t TIME | --at SEQ] [--tag TEXT] [--pid PID]\n"
    "                   [-f NAME] [-a ARCHIVE | STREAM]\n"
    "   or: hrr-regions del --base ADDRESS [--kind KIND] [--device N]\n"
    "                   (--t TIME | --at SEQ) [--pid PID]\n"
    "                   [-f NAME] [-a ARCHIVE | STREAM]\n"
    "   or: hrr-regions ls [--pid PID] [ARCHIVE]\n"
    "   or: hrr-regions check [--pid PID] [ARCHIVE]\n"
    "   or: hrr-regions explain [--at SEQ | --t TIME] [--pid PID] QUESTION [ARCHIVE]\n"
    "   or: hrr-regions import --torch FILE [--frames N] [--pid PID] [-f NAME]\n"
    "                   [-a ARCHIVE]\n"
    "   or: hrr-regions import --hrrr FILE [--pid PID] [-f NAME] [-a ARCHIVE]\n"
    "   or: hrr-regions export --hrrr FILE [--pid PID] [ARCHIVE]\n"
    "   or: hrr-regions merge [-a ARCHIVE [--pid PID]] SIDECAR ...\n"
    "   or: hrr-regions clip [--from TIME] [--to TIME] [--base ADDRESS --size N]\n"
    "                   [-a ARCHIVE [--pid PID]] SIDECAR ...\n"
    "   or: hrr-regions lint [--confidence PERCENT] [--pid PID] [ARCHIVE]\n"
    "   or: hrr-regions map --svg [--from TIME] [--to TIME] [--pid PID] [ARCHIVE]\n"
    "\n"
    "Tells of device memory that HIP never saw. add and del put one record into a\n"
    "stream on its way from standard input (or STREAM) to standard output, or with\n"
    "-a into a sidecar of ARCHIVE.\n"
    "\n"
    "  -a ARCHIVE      an archive, one process's folder or its events.jsonl\n"
    "  -f NAME         with -a: the sidecar regions/NAME.jsonl (added)\n"
    "  --kind KIND     segment: a whole allocation; block: a part of one\n"
    "  --base ADDRESS  where it starts, like 0x7fbe01400000\n"
    "  --size N        its bytes, 1 to 2^47, like 4096 or 64K\n"
    "  --device N      the device it is on (0)\n"
    "  --t TIME        when, since the stream's t0: ns, or like 5ms; not given: since\n"
    "                  before the stream\n"
    "  --at SEQ        just before the call SEQ\n"
    "  --tag TEXT      what to call it\n"
    "  --pid PID       of this process only, where there are several\n"
    "  --torch FILE    a memory snapshot of PyTorch\n"
    "  --hrrr FILE     a sidecar of upstream HIP Record & Replay; export makes it\n"
    "  --frames N      the N innermost frames become the tag (0)\n"
    "  --from, --to    what lives at some moment between them is kept, or drawn\n"
    "  --confidence N  tell what is at least so likely, in percent (40)\n"
    "  --svg           the picture is SVG\n"
    "  -h, --version   this text; the version\n"
    "\n"
    "ls prints kind, device, base, size, from, to and tag of every region. check\n"
    "prints what does not fit and exits with 1 when there is any. explain tells whose\n"
    "an address was and exits with 1 when it was nobody's; QUESTION is an address, a\n"
    "message of hrr-play, or - for such lines on standard input. import writes a\n"
    "sidecar, merge makes one of several, clip leaves out what is elsewhere. lint\n"
    "prints words that look like addresses nobody declared and exits with 1 when\n"
    "there are any. map draws memory over time.\n";

/* Options by their bits: which a command takes, and which were given. */
enum {
	A = 1 << 0,
	F = 1 << 1,
	KIND = 1 << 2,
	BASE = 1 << 3,
	SIZE = 1 << 4,
	DEVICE = 1 << 5,
	T = 1 << 6,
	AT = 1 << 7,
	TAG = 1 << 8,
	PID = 1 << 9,
	TORCH = 1 << 10,
	HRRR = 1 << 11,
	FRAMES = 1 << 12,
	FROM = 1 << 13,
	TO = 1 << 14,
	CONFIDENCE = 1 << 15,
	SVG = 1 << 16
};

#define LONG 256 /* val of a long option: this and the number of its bit */
enum {
	N_KIND = LONG + 2,
	N_BASE,
	N_SIZE,
	N_DEVICE,
	N_T,
	N_AT,
	N_TAG,
	N_PID,
	N_TORCH,
	N_HRRR,
	N_FRAMES,
	N_FROM,
	N_TO,
	N_CONFIDENCE,
	N_SVG
};

static const struct option longs[] = {
    {"kind", required_argument, NULL, N_KIND},
    {"base", required_argument, NULL, N_BASE},
    {"size", required_argument, NULL, N_SIZE},
    {"device", required_argument, NULL, N_DEVICE},
    {"t", required_argument, NULL, N_T},
    {"at", required_argument, NULL, N_AT},
    {"tag", required_argument, NULL, N_TAG},
    {"pid", required_argument, NULL, N_PID},
    {"torch", required_argument, NULL, N_TORCH},
    {"hrrr", required_argument, NULL, N_HRRR},
    {"frames", required_argument, NULL, N_FRAMES},
    {"from", required_argument, NULL, N_FROM},
    {"to", required_argument, NULL, N_TO},
    {"confidence", required_argument, NULL, N_CONFIDENCE},
    {"svg", no_argument, NULL, N_SVG},
    {0},
};

struct hrr_diag regions_diag;

struct hrr_source *regions_open(const struct regions *g, const char *operand)
{
	struct hrr_source *src;

	if (hrr_source_open(&src, operand, &g->opt, &regions_diag) < 0)
		tool_die_diag(&regions_diag);
	return src;
}

struct hrr_record *regions_next(struct hrr_source *src)
{
	struct hrr_record *rec;
	int rc = hrr_source_next(src, &rec, &regions_diag);

	if (rc < 0)
		tool_die_diag(&regions_diag);
	return rc > 0 ? rec : NULL;
}

void regions_pids_note(struct regions_pids *p, const struct hrr_record *rec)
{
	static const uint64_t unmet = UINT64_MAX;

	if (rec->kind == HRR_REC_OTHER)
		return;
	while (p->v.len / sizeof unmet <= rec->p)
		if (hrr_buf_add(&p->v, &unmet, sizeof unmet) < 0)
			tool_no_memory();
	uint64_t *pid = (uint64_t *)(void *)p->v.data + rec->p;
	if (*pid == unmet) {
		*pid = 0;
		p->n++;
	}
	if (rec->kind == HRR_REC_HEADER)
		(void)hrr_json_u64(&rec->json, hrr_json_get(&rec->json, 0, "pid"), pid);
}

uint64_t regions_pid(const struct regions_pids *p, uint32_t index)
{
	return ((const uint64_t *)(const void *)p->v.data)[index];
}

/* --- command line --- */

static int add_or_del(struct regions *g)
{
	struct hrr_region *r = &g->region;

	if (!g->has_base || (r->add && (!g->has_size || !r->kind_known)))
		tool_misuse(r->add ? "add needs --kind, --base and --size" : "del needs --base");
	if (!r->add && !g->has_t && !g->has_at)
		tool_misuse("del needs --t or --at");
	if (g->has_t && g->has_at)
		tool_misuse("--t and --at exclude each other");
	if (r->add &&
	    (r->size == 0 || r->size > HRR_REGION_MAX || r->base > UINT64_MAX - (r->size - 1)))
		tool_misuse("--size: not from 1 to 2^47, or past the end of the address space");
	if (g->archive != NULL && g->n_operands > 0)
		tool_misuse("too many operands: -a names the archive");
	if (g->archive == NULL && g->name != NULL)
		tool_misuse("-f needs -a: a stream has no sidecars");
	if (g->name == NULL)
		g->name = "added";
	return g->archive != NULL ? regions_extend(g) : regions_filter(g);
}

static int add(struct regions *g)
{
	g->region.add = true;
	return add_or_del(g);
}

static int combine(struct regions *g)
{
	if (g->archive == NULL && g->opt.pid >= 0)
		tool_misuse("--pid needs -a: sidecars are of one process");
	if (g->has_base != g->has_size || (g->has_size && g->region.size == 0))
		tool_misuse("--base and --size go together");
	if (g->from > g->to)
		tool_misuse("--from is later than --to");
	return regions_combine(g);
}

static int import(struct regions *g)
{
	if ((g->torch == NULL) == (g->hrrr == NULL))
		tool_misuse("import takes --torch FILE or --hrrr FILE");
	if (g->frames > 0 && g->torch == NULL)
		tool_misuse("--frames goes with --torch");
	if (g->archive == NULL && (g->name != NULL || g->opt.pid >= 0))
		tool_misuse("-f and --pid need -a: without it the sidecar is printed");
	return regions_import(g);
}

static int export(struct regions *g)
{
	if (g->hrrr == NULL)
		tool_misuse("export needs --hrrr FILE");
	return regions_export(g);
}

static int explain(struct regions *g)
{
	if (g->has_t && g->has_at)
		tool_misuse("--t and --at exclude each other");
	if (strcmp(g->operands[0], "-") == 0 && strcmp(g->operand, "-") == 0)
		tool_misuse("questions and stream cannot both be standard input");
	return regions_explain(g);
}

static int map(struct regions *g)
{
	if (!g->svg)
		tool_misuse("map needs --svg");
	if (g->from > g->to)
		tool_misuse("--from is later than --to");
	return regions_map(g);
}

/* The last operand of most is an archive, which -a may name as well. */
static const struct command {
	const char *name;
	int (*run)(struct regions *g);
	unsigned takes;
	size_t least, most; /* operands */
	bool archive;	    /* the last of so many as there may be is the archive */
} commands[] = {
    {"add", add, A | F | KIND | BASE | SIZE | DEVICE | T | AT | TAG | PID, 0, 1, true},
    {"del", add_or_del, A | F | KIND | BASE | DEVICE | T | AT | PID, 0, 1, true},
    {"ls", regions_list, A | PID, 0, 1, true},
    {"check", regions_check, A | PID, 0, 1, true},
    {"explain", explain, A | AT | T | PID, 1, 2, true},
    {"import", import, A | F | TORCH | HRRR | FRAMES | PID, 0, 0, false},
    {"export", export, A | HRRR | PID, 0, 1, true},
    {"merge", combine, A | PID, 1, SIZE_MAX, false},
    {"clip", combine, A | PID | FROM | TO | BASE | SIZE, 1, SIZE_MAX, false},
    {"lint", regions_lint, A | CONFIDENCE | PID, 0, 1, true},
    {"map", map, A | SVG | FROM | TO | PID, 0, 1, true},
};

static const struct command *command_of(const char *name)
{
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	tool_misuse("no such thing to do: %s", name);
}

static void refuse(const struct command *c, unsigned given)
{
	for (unsigned bit = 0; given >> bit != 0; bit++) {
		if (!(given >> bit & 1) || c->takes >> bit & 1)
			continue;
		if (bit < 2)
			tool_misuse("%s takes no -%c", c->name, bit == 0 ? 'a' : 'f');
		tool_misuse("%s takes no --%s", c->name, longs[bit - 2].name);
	}
}

/* One option. Returns its bit. */
static unsigned option(struct regions *g, int o)
{
	uint64_t v;

	switch (o) {
	case 'a':
		g->archive = optarg;
		return A;
	case 'f':
		g->name = optarg;
		if (strchr(optarg, '/') != NULL || optarg[0] == '.' || optarg[0] == '\0')
			tool_misuse("-f: not a plain name: %s", optarg);
		return F;
	case N_KIND:
		g->region.segment = strcmp(optarg, "segment") == 0;
		g->region.kind_known = true;
		if (!g->region.segment && strcmp(optarg, "block") != 0)
			tool_misuse("--kind: neither segment nor block: %s", optarg);
		break;
	case N_BASE:
		g->region.base = tool_address("--base", optarg);
		g->has_base = true;
		break;
	case N_SIZE:
		g->region.size = tool_size("--size", optarg);
		g->has_size = true;
		break;
	case N_DEVICE:
		v = tool_number("--device", optarg);
		if (v > HRR_REGION_MAX_DEVICE)
			tool_misuse("--device: above %d: %s", HRR_REGION_MAX_DEVICE, optarg);
		g->region.device = (int)v;
		break;
	case N_T:
		g->region.t = tool_time("--t", optarg);
		g->has_t = true;
		break;
	case N_AT:
		g->at = tool_number("--at", optarg);
		g->has_at = true;
		break;
	case N_TAG:
		g->region.tag = optarg;
		g->region.tag_len = strlen(optarg);
		break;
	case N_PID:
		v = tool_number("--pid", optarg);
		if (v > INT32_MAX)
			tool_misuse("--pid: no process has it: %s", optarg);
		g->opt.pid = (int64_t)v;
		break;
	case N_TORCH:
		g->torch = optarg;
		break;
	case N_HRRR:
		g->hrrr = optarg;
		break;
	case N_FRAMES:
		g->frames = tool_number("--frames", optarg);
		if (g->frames > HRR_TORCH_MAX_FRAMES)
			tool_misuse("--frames: above %d: %s", HRR_TORCH_MAX_FRAMES, optarg);
		break;
	case N_FROM:
		g->from = tool_time("--from", optarg);
		break;
	case N_TO:
		g->to = tool_time("--to", optarg);
		break;
	case N_CONFIDENCE:
		g->confidence = tool_number("--confidence", optarg);
		if (g->confidence > 100)
			tool_misuse("--confidence: above 100: %s", optarg);
		break;
	case N_SVG:
		g->svg = true;
		break;
	}
	return 1u << (o - LONG);
}

int main(int argc, char **argv)
{
	struct regions g = {
	    .opt = {.pid = -1}, .region = {.t = HRR_NO_TIME}, .to = HRR_NO_TIME, .confidence = 40};
	unsigned given = 0;

	tool_start("hrr-regions", usage);
	for (int o; (o = tool_option(argc, argv, "a:f:", longs)) != -1;)
		given |= option(&g, o);
	if (optind >= argc)
		tool_misuse("what to do is missing: add, del, ls, check, explain, import, export, "
			    "merge, clip, lint or map");
	const struct command *c = command_of(argv[optind++]);
	refuse(c, given);
	g.operands = argv + optind;
	g.n_operands = (size_t)(argc - optind);
	if (g.n_operands < c->least)
		tool_misuse("%s needs %s", c->name, c->archive ? "a question" : "a sidecar");
	if (g.n_operands > c->most || (c->archive && g.archive != NULL && g.n_operands == c->most))
		tool_misuse("%s: too many operands", c->name);
	g.operand = c->archive && g.n_operands == c->most ? g.operands[c->most - 1]
		    : g.archive != NULL			  ? g.archive
							  : "-";
	return tool_finish(c->run(&g));
}
