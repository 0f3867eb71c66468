/* The texts of the switch's notes (switch_notes.h). */
#include "capture/switch_notes.h"

#include <inttypes.h>
#include <stdio.h>

#include "capture/switch_scopes.h"

void switch_describe_begin(const struct switch_cause *cause, char text[SWITCH_NOTE_BYTES])
{
	const struct switch_policy *policy = cause->policy;

	if (policy->open)
		snprintf(text, SWITCH_NOTE_BYTES,
			 "capture range: begins with instance %" PRIu64 " of the scope \"%s\"; "
			 "%" PRIu64 " before it were not recorded",
			 policy->instances, cause->scope, policy->instances - policy->selected);
	else
		snprintf(text, SWITCH_NOTE_BYTES, "capture range: begins with %s",
			 cause->call	     ? cause->call
			 : cause->is_delayed ? "the end of the delay"
					     : "the first use of a GPU");
}

void switch_describe_end(const char *end, char text[SWITCH_NOTE_BYTES])
{
	snprintf(text, SWITCH_NOTE_BYTES,
		 "capture range: ends with %s; what follows is not recorded",
		 end ? end : "the end of the duration");
}

void switch_describe_failures(const struct switch_failures *failures, char text[SWITCH_NOTE_BYTES])
{
	text[0] = '\0';
	if (failures->events || failures->starts || failures->ranges)
		snprintf(text, SWITCH_NOTE_BYTES,
			 "capture range: not followed: %" PRIu64 " events (lock), %" PRIu64
			 " starts (failed), %" PRIu64 " ranges (more than %d open)",
			 failures->events, failures->starts, failures->ranges, SWITCH_RANGES_MOST);
}
