#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bin/play.h"
#include "bin/tool.h"

/* Before the first record: addresses are held, the run time is loaded, watches are set. */

#define MAX_TRIES 3 /* starts, for the sake of recorded addresses */
#define GRACE 10    /* seconds a HIP call may take beyond the watchdog's wait */

static volatile sig_atomic_t signalled;
static volatile int interrupt;
/* Records played, and the line of the one in hand: the watchdog's thread looks at them. */
static atomic_ullong beats, beat_line;

static void on_signal(int sig)
{
	signalled = sig;
	interrupt = 1;
}

struct hrr_source *play_open_source(void)
{
	struct hrr_source_options so = {.pid = play.pid, .blobs = play.blobs};
	struct hrr_source *src;
	struct hrr_diag diag = {0};

	so.no_sidecars = play.no_regions || play.child >= 0;
	if (!play.no_regions && play.child < 0) {
		so.n_sidecars = play.n_sidecars;
		so.sidecars = play.sidecars;
	}
	if (hrr_source_open(&src, play.operand, &so, &diag) < 0)
		tool_die_diag(&diag);
	return src;
}

/* Something of our own is where memory should go: another draw of addresses may miss it. */
static void start_again(void)
{
	const char *tries = getenv("HRR_PLAY_TRIES");
	int n = tries != NULL ? atoi(tries) : 0;
	char text[16];

	if (n >= MAX_TRIES)
		return;
	snprintf(text, sizeof text, "%d", n + 1);
	setenv("HRR_PLAY_TRIES", text, 1);
	execv("/proc/self/exe", play.argv);
}

/* Reserves the addresses the archive will want, before anything else takes them. */
struct hrr_place *play_place(void)
{
	struct hrr_place *p = hrr_place_new();
	struct hrr_diag diag = {0};
	struct hrr_record *rec;
	int rc = 0;

	if (p == NULL)
		tool_no_memory();
	if (play_is_pipe() || play.opt.no_placement)
		return p;
	struct hrr_source *src = play_open_source();
	uint32_t first = UINT32_MAX;
	while ((rc = hrr_source_next(src, &rec, &diag)) > 0) {
		if (first == UINT32_MAX)
			first = rec->p;
		if (rec->p == first && hrr_place_scan(p, rec) < 0)
			tool_no_memory();
	}
	hrr_source_close(src); /* what is wrong with it is said when it is played */
	if (hrr_place_reserve(p) > 0)
		start_again();
	return p;
}

void play_load(void)
{
	struct hrr_diag diag = {0};
	char libdir[4096];
	int n, rc;

	if (hrr_libdir(libdir, sizeof libdir) < 0)
		libdir[0] = '\0';
	bool automatic = strcmp(play.device, "auto") == 0;
	if (automatic) {
		if (hrr_hip_load(&play.hip, "rocm", libdir, &diag) == 0 &&
		    hrr_hip_devices(&play.hip, &n, &diag) == 0) {
			play.device = "rocm";
			tool_say(NULL, 0, "device rocm: %s", play.hip.path);
			return;
		}
		play.device = "emu";
		if (!play.quiet && play.child < 0)
			tool_say(NULL, 0, "device emu: no GPU answers, the CPU run time is used");
	}
	diag = (struct hrr_diag){0};
	rc = hrr_hip_load(&play.hip, play.device, libdir, &diag);
	if (rc < 0)
		tool_die(NULL, 0, "%s", diag.what);
}

/* A HIP call that never comes back cannot be ended in order: say so and leave. */
static void *watch(void *self)
{
	unsigned long long last = 0;
	unsigned same = 0;

	(void)self;
	for (;;) {
		sleep(1);
		unsigned long long now = atomic_load(&beats);
		same = now == last ? same + 1 : 0;
		last = now;
		if (now != 0 && same > play.opt.watchdog + GRACE) {
			const char *s = play.operand != NULL ? play.operand : "-";
			char name[300], text[512];
			hrr_mask(name, sizeof name, s, strlen(s));
			int n = snprintf(text, sizeof text,
					 "hrr-play: %s:%llu: watchdog: a HIP call has not returned "
					 "for %u seconds (--watchdog); what the device may still "
					 "write is left alone\n",
					 name, atomic_load(&beat_line), same);
			ssize_t w = write(2, text, (size_t)n); /* no lock: who knows who holds it */
			(void)w;
			_exit(TOOL_TROUBLE);
		}
	}
	return NULL;
}

void play_start_engine(struct hrr_place *p)
{
	struct hrr_diag diag = {0};
	struct sigaction sa = {.sa_handler = on_signal};
	pthread_t t;

	if (play.faults.n != 0)
		hrr_fault_install(&play.faults, &play.hip);
	play.opt.interrupt = &interrupt;
	play.opt.outcome = play_on_outcome;
	play_listen();
	play.opt.fidelity = play.results_fd >= 0 ? play_on_fidelity : NULL;
	if (hrr_replay_new(&play.engine, &play.hip, &play.opt, NULL, &diag) < 0)
		tool_die(NULL, 0, "%s", diag.what);
	hrr_replay_set_place(play.engine, p);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	if (play.opt.watchdog != 0 && pthread_create(&t, NULL, watch, NULL) == 0)
		pthread_detach(t);
}

void play_beat(const struct hrr_record *rec)
{
	atomic_store(&beat_line, rec != NULL ? rec->lineno : 0);
	atomic_fetch_add(&beats, 1);
}

int play_signalled(void)
{
	return signalled;
}
