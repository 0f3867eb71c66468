/* What the parts of the file add to the calls besides their rows (call_parts.h). */
#include "trace/load/call_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/row_table.h"

int call_part_keep(struct call_part *part, uint32_t words, uint32_t rank,
		   const struct record_api *record, struct trace_call *call)
{
	struct kept_args *kept;

	if (record->header.words - sizeof(*record) / 8 < words)
		return 0;
	if (part->word_count + words >= TRACE_NONE)
		return -E2BIG;
	kept = table_add((void **)&part->kept, &part->kept_count, sizeof(*kept));
	if (!kept || table_reserve((void **)&part->words, &part->word_room,
				   part->word_count + words, sizeof(*part->words)) < 0)
		return -ENOMEM;
	*kept = (struct kept_args){rank, words};
	call->arg_first = (uint32_t)part->word_count;
	memcpy(part->words + part->word_count, record->args, words * sizeof(*part->words));
	part->word_count += words;
	return 0;
}

/* CUDA's functions that dagtap has no number for have number 0. */
static bool is_cuda_function(uint32_t function)
{
	return !function ||
	       (function >= RECORD_CUDA_FUNCTION_FIRST && function < RECORD_CUDA_FUNCTION_END);
}

int call_part_note_unknown(struct call_part *part, uint32_t rank, uint32_t function)
{
	uint64_t *unknown =
		table_add((void **)&part->unknown, &part->unknown_count, sizeof(*unknown));

	if (!unknown)
		return -ENOMEM;
	*unknown = (uint64_t)rank << 1 | is_cuda_function(function);
	return 0;
}

int call_part_take_words(struct process_load *load, struct call_part *part)
{
	struct trace *trace = load->trace;
	struct trace_call *calls = trace->calls + load->first.calls;
	uint64_t *words, next = 0;

	if (trace->words_count + part->word_count >= TRACE_NONE)
		return -E2BIG;
	words = part->word_count ? trace_append(trace, words, part->word_count) : NULL;
	if (part->word_count && !words)
		return -ENOMEM;
	for (uint32_t i = 0; i < part->kept_count; i++) {
		struct trace_call *call = &calls[part->kept[i].rank];

		/* A record with the same id may have taken the row since. */
		if (call->arg_first == next)
			call->arg_first += (uint32_t)(words - trace->words);
		next += part->kept[i].words;
	}
	if (part->word_count)
		memcpy(words, part->words, part->word_count * sizeof(*words));
	free(part->words);
	free(part->kept);
	part->words = NULL;
	part->kept = NULL;
	part->word_count = part->word_room = 0;
	part->kept_count = 0;
	return 0;
}

/* A call whose function has no name (its META record was dropped) still needs a row of apis: one
 * per interface, after all others. */
static int find_unknown_api(struct process_load *load, bool is_cuda, uint32_t *known)
{
	struct trace_api *row;

	if (*known != TRACE_NONE)
		return 0;
	row = trace_extend(load->trace, apis, 1);
	if (!row)
		return -ENOMEM;
	*row = (struct trace_api){
		.process = load->process,
		.function = CALL_UNKNOWN_FUNCTION,
		.name = strtab_intern_z(load->strings, "(unknown call)"),
		.domain = is_cuda ? RECORD_DOMAIN_CUDA : RECORD_DOMAIN_HIP,
	};
	*known = load->trace->apis_count - 1;
	return 0;
}

static int take_unknown(struct process_load *load, const struct call_part *part, uint32_t apis[2])
{
	struct trace_call *calls = load->trace->calls + load->first.calls;

	for (uint32_t i = 0; i < part->unknown_count; i++) {
		bool is_cuda = part->unknown[i] & 1;
		struct trace_call *call = &calls[part->unknown[i] >> 1];

		if (find_unknown_api(load, is_cuda, &apis[is_cuda]) < 0)
			return -ENOMEM;
		/* A record with the same id may have taken the row since. */
		if (call->api == TRACE_NONE)
			call->api = apis[is_cuda];
	}
	return 0;
}

/* By table_add_rows, because a later stage adds more by table_add. */
static int take_notes(struct process_load *load, const struct call_part *part)
{
	if (table_add_rows((void **)&load->call_events.rows, &load->call_events.count,
			   part->call_events.rows, part->call_events.count,
			   sizeof(*part->call_events.rows)) < 0 ||
	    table_add_rows((void **)&load->cuda.captures.notes, &load->cuda.captures.count,
			   part->captures.notes, part->captures.count,
			   sizeof(*part->captures.notes)) < 0)
		return -ENOMEM;
	return table_add_rows((void **)&load->updates.rows, &load->updates.count,
			      part->updates.rows, part->updates.count, sizeof(*part->updates.rows));
}

int call_parts_take(struct process_load *load, struct call_part *parts, uint32_t count)
{
	uint32_t unknown_apis[2] = {TRACE_NONE, TRACE_NONE}; /* of HIP and of CUDA */
	int err = 0;

	for (uint32_t i = 0; i < count && err == 0; i++) {
		struct call_part *part = &parts[i];

		err = call_part_take_words(load, part);
		if (err == 0)
			err = take_notes(load, part);
		if (err == 0)
			err = take_unknown(load, part, unknown_apis);
	}
	/* Interning may have moved the texts. */
	load->trace->strings = load->strings->strings;
	return err;
}

void call_part_release(struct call_part *part)
{
	free(part->call_events.rows);
	free(part->captures.notes);
	free(part->updates.rows);
	free(part->words);
	free(part->kept);
	free(part->unknown);
}
