#include <errno.h>
#include <time.h>

#include "lib/store/archive.h"
#include "lib/store/source_private.h"

/*
 * Following: the end of a file is the end once the recorder has gone, or the process has its end
 * record. Of an archive that is being recorded all processes are followed, those that begin later
 * too; they are merged as far as their records are there, as one that is quiet may be so for long.
 */
#define LOOK_EVERY 1024 /* records between two looks for new processes */

static void pause_a_little(void)
{
	const struct timespec t = {0, 50000000};

	nanosleep(&t, NULL);
}

static bool is_running(struct hrr_source *s)
{
	struct hrr_archive_manifest m;

	s->running = hrr_archive_manifest(s->archive, &m, NULL) == 0 && m.running;
	return s->running;
}

static int wait_for_more(void *self)
{
	struct hrr_source *s = self;
	const struct process *p = hrr_source_process(s, s->reading->p >= 0 ? (uint32_t)s->reading->p
									   : s->reading->head.p);

	if (p != NULL && p->end)
		return 0;
	if (s->grows)
		return -EAGAIN;
	if (is_running(s)) {
		s->last_look = false;
		pause_a_little();
		return 1;
	}
	/* What was written between our read and its end is still to be read. */
	if (s->last_look)
		return 0;
	s->last_look = true;
	return 1;
}

void hrr_source_follow(struct hrr_source *s)
{
	for (size_t i = 0; i < s->n_feeds && s->archive != NULL; i++)
		if (s->feeds[i].reader != NULL)
			hrr_reader_follow(s->feeds[i].reader, wait_for_more, s);
}

int hrr_source_wait(struct hrr_source *s, bool idle, struct hrr_diag *diag)
{
	if (!idle && ++s->given % LOOK_EVERY != 0)
		return 0;
	bool running = is_running(s);
	int rc = hrr_source_find_new(s, diag);

	if (rc < 0)
		return rc;
	if (rc > 0) {
		hrr_source_follow(s);
		return 1;
	}
	if (!idle)
		return 0;
	if (running)
		pause_a_little();
	else
		s->grows = false; /* once more, to the ends of the files */
	return 1;
}
