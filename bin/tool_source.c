#include "bin/tool_source.h"

#include <string.h>

#include "bin/tool.h"

bool tool_say_state(const char *operand, const struct hrr_source *src)
{
	struct hrr_source_state st;

	hrr_source_state(src, &st);
	if (operand == NULL)
		operand = "-";
	if (st.processes == 0 && st.cut_line) {
		tool_say(operand, 0, "cut short: not one whole line");
		return false;
	}
	if (st.processes == 0) {
		tool_say(operand, 0,
			 st.running ? "no call of HIP yet: the recorder is running"
				    : "empty: no process in it, or nothing was recorded");
		return false;
	}
	if (st.cut_line)
		tool_say(operand, 0, "%s: the last line is not whole and left out",
			 st.running ? "still running" : "cut short");
	else if (!st.has_end && !st.sidecar)
		tool_say(operand, 0, "%s: no end record",
			 st.running ? "still running"
				    : (st.no_header ? "filtered or cut short" : "cut short"));
	else if (!st.counts_fit && !st.sidecar)
		tool_say(operand, 0,
			 "filtered or cut short: the end record counts other calls than there are");
	else if (st.ended_cut)
		tool_say(operand, 0,
			 "cut short: the process was killed, or not all of it was recorded");
	if (st.no_header && !st.sidecar)
		tool_say(operand, 0, "no header: the stream does not begin here");
	if (st.lost > 0)
		tool_say(operand, 0, "%llu records were lost in recording",
			 (unsigned long long)st.lost);
	if (st.cut_sidecar)
		tool_say(operand, 0, "a sidecar's last line is not whole and left out");
	if (st.clock_suspect)
		tool_say(operand, 0,
			 "the clock of a sidecar does not fit: most of its regions lie outside the "
			 "stream");
	return true;
}
