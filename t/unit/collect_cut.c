/* What --window leaves of a stream: markers and regions of before it. */
#include <stdlib.h>
#include <unistd.h>

#include "lib/collect/cut.h"
#include "t/unit/tap.h"

#define HEADER "{\"hrr\":1,\"pid\":1,\"t0\":\"1000\"}\n"
#define CALL(seq, t, addr)                                                     \
	"{\"seq\":" seq ",\"t\":" t                                            \
	",\"dur\":1,\"tid\":1,\"api\":\"hipMemset\",\"args\":{\"dst\":\"" addr \
	"\",\"value\":0,\"sizeBytes\":8}}\n"
#define MARK(what, t, tid, more) "{\"marker\":\"" what "\",\"t\":" t ",\"tid\":" tid more "}\n"
#define TEXT(s) ",\"text\":\"" s "\""
#define ADD(base, t)                                                             \
	"{\"region\":\"add\",\"kind\":\"segment\",\"device\":0,\"base\":\"" base \
	"\",\"size\":4096,\"t\":" t "}\n"
#define DEL(base, t)                                                                               \
	"{\"region\":\"del\",\"kind\":\"segment\",\"device\":0,\"base\":\"" base "\",\"t\":" t "}" \
	"\n"
#define END(end, calls, regions)                                                                \
	"{\"end\":\"" end "\",\"t\":900,\"calls\":" calls ",\"outputs\":0,\"regions\":" regions \
	",\"lost\":0}\n"

static char from[64], to[80];

/* What stays of text when calls from 500 on are asked for. */
static const char *cut_of(const char *text, bool live)
{
	static char out[8192];
	static struct hrr_diag diag;
	struct cut c = {.diag = &diag, .from = 1500, .live = live, .fd = -1};
	FILE *f = fopen(from, "w");

	if (f == NULL || fputs(text, f) < 0 || fclose(f) != 0)
		exit(2);
	unlink(to);
	int rc = cut_stream(&c, from, UINT64_MAX, to);
	f = fopen(to, "r");
	size_t n = f != NULL ? fread(out, 1, sizeof out - 1, f) : 0;
	out[n] = '\0';
	if (f != NULL)
		fclose(f);
	cut_release(&c);
	return rc < 0 ? diag.what : out;
}

static void markers(void)
{
	is_str(cut_of(HEADER MARK("mark", "1", "1", TEXT("old"))
			  MARK("mark", "500", "1", TEXT("new")) END("complete", "0", "0"),
		      false),
	       HEADER MARK("mark", "500", "1", TEXT("new")) END("complete", "0", "0"),
	       "a mark goes with its time");
	is_str(cut_of(HEADER MARK("push", "1", "1", TEXT("a")) MARK("push", "2", "2", TEXT("b"))
			  MARK("push", "3", "1", TEXT("c")) MARK("pop", "4", "1", "")
			      MARK("pop", "600", "1", "") MARK("pop", "601", "2", ""),
		      false),
	       HEADER MARK("push", "1", "1", TEXT("a")) MARK("push", "2", "2", TEXT("b"))
		   MARK("pop", "600", "1", "") MARK("pop", "601", "2", ""),
	       "a range of a thread stays when it ends inside");
	is_str(cut_of(HEADER MARK("start", "1", "1", ",\"id\":\"0x1\"" TEXT("a"))
			  MARK("start", "2", "1", ",\"id\":\"0x2\"" TEXT("b"))
			      MARK("stop", "3", "2", ",\"id\":\"0x1\"")
				  MARK("start", "4", "1", ",\"id\":\"0x3\"" TEXT("c"))
				      MARK("stop", "700", "2", ",\"id\":\"0x2\""),
		      false),
	       HEADER MARK("start", "2", "1", ",\"id\":\"0x2\"" TEXT("b"))
		   MARK("start", "4", "1", ",\"id\":\"0x3\"" TEXT("c"))
		       MARK("stop", "700", "2", ",\"id\":\"0x2\""),
	       "one with a number too, or when it has not ended");
	is_str(cut_of(HEADER MARK("profilerStart", "1", "1", "") MARK("profilerStop", "2", "1", "")
			  MARK("profilerStart", "3", "1", "") MARK("pop", "4", "1", ""),
		      true),
	       HEADER MARK("profilerStart", "3", "1", ""), "and the profiler's; an end alone goes");
}

static void regions(void)
{
	is_str(cut_of(HEADER ADD("0x10000", "1") CALL("1", "2", "0x10000") DEL("0x10000", "3")
			  ADD("0x20000", "4") ADD("0x10000", "5") CALL("2", "6", "0x20000")
			      DEL("0x20000", "550") CALL("3", "600", "0x10010")
				  END("complete", "3", "5"),
		      false),
	       HEADER ADD("0x10000", "5") CALL("3", "600", "0x10010") END("filtered", "1", "1"),
	       "memory that came and went goes, when no call that stays uses it");
	is_str(cut_of(HEADER ADD("0x10000", "1") CALL("1", "2", "0x10000")
			  CALL("2", "600", "0x10000") DEL("0x10000", "601"),
		      true),
	       HEADER ADD("0x10000", "1") CALL("1", "2", "0x10000") CALL("2", "600", "0x10000")
		   DEL("0x10000", "601"),
	       "else it stays, begin and end");
	is_str(cut_of(HEADER ADD("0x10000", "1") ADD("0x20000", "2") DEL("0x20000", "3")
			  DEL("0x30000", "4"),
		      true),
	       HEADER ADD("0x10000", "1") DEL("0x30000", "4"),
	       "what has not gone stays, and what this stream says nothing of");
}

int main(void)
{
	snprintf(from, sizeof from, "/tmp/hrr-cut-XXXXXX");
	int fd = mkstemp(from);
	if (fd < 0)
		return 2;
	close(fd);
	snprintf(to, sizeof to, "%s.to", from);
	markers();
	regions();
	unlink(from);
	unlink(to);
	return done_testing();
}
