/* The clocks of a merged recording in the model (load_ranks.h). */
#include "trace/load_ranks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "trace/create.h"
#include "trace/row_table.h"

void load_ranks_place(const struct bundle *bundle, uint32_t section, struct origin *origin)
{
	const struct ranks *ranks = &bundle->ranks;
	uint32_t first = 2; /* behind META and RANKS */

	for (uint32_t i = 0; i < ranks->file_count; i++) {
		const struct rank_file *file = &ranks->files[i];

		if (section >= first && section - first < file->section_count) {
			origin->clock = &ranks->clocks[file->clock];
			origin->rank_file = i;
			origin->wall_ns = ranks->wall_ns;
			return;
		}
		first += file->section_count;
	}
}

static int tell(struct trace *trace, const char *text)
{
	struct trace_message *message = trace_add(trace, messages);

	if (!message)
		return -ENOMEM;
	*message = (struct trace_message){
		.process = TRACE_NONE,
		.text = strtab_intern_z(trace_strings(trace), text),
	};
	return 0;
}

/* Says how FILE's clock is known. */
static int tell_clock(struct trace *trace, const struct rank_file *file,
		      const struct rank_clock *clock)
{
	static const char *const ways[] = {
		[RANK_CLOCK_REFERENCE] = "",
		[RANK_CLOCK_COLLECTIVES] = "by collectives",
		[RANK_CLOCK_WALL] = "by wall clocks, whose error is assumed",
	};
	char text[600];

	if (clock->source == RANK_CLOCK_REFERENCE)
		snprintf(text, sizeof(text), "%s: its clock is the reference", file->name);
	else if (rank_clock_worst(clock) >= INT64_MAX)
		snprintf(text, sizeof(text),
			 "%s: its clock was compared with no other; its times say nothing beside "
			 "those of others",
			 file->name);
	else
		snprintf(text, sizeof(text),
			 "%s: its times are right to %.3f us beside the reference's, %s%s",
			 file->name, (double)rank_clock_worst(clock) / 1000, ways[clock->source],
			 rank_clock_is_assumed(clock)
				 ? ", if its uneven clock did not run more unevenly than "
				   "they show"
				 : "");
	return tell(trace, text);
}

int load_ranks_tell(const struct ranks *ranks, struct trace *trace)
{
	struct trace_clock *rows = trace_extend(trace, clocks, ranks->file_count);
	int err = rows ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < ranks->file_count && err == 0; i++) {
		const struct rank_file *file = &ranks->files[i];

		rows[i] = (struct trace_clock){
			.name = strtab_intern_z(trace_strings(trace), file->name),
			.machine = file->clock,
			.fit = ranks->clocks[file->clock],
		};
		err = tell_clock(trace, file, &ranks->clocks[file->clock]);
	}
	for (uint32_t i = 0; i < ranks->note_count && err == 0; i++)
		err = tell(trace, ranks->notes[i]);
	return err;
}
