/* Opening the recordings of ranks (rank_recording.h). */
#include "merge/rank_recording.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/workers.h"
#include "merge/rank_collectives.h"
#include "trace/pack/origin.h"

#define FUNCTIONS (RECORD_CUDA_FUNCTION_FIRST - RECORD_RCCL_FUNCTION_FIRST)

/* The search for calls of collectives in the records of one process. */
struct call_search {
	bool is_collective[FUNCTIONS]; /* by number of the function */
	bool has_functions;
	atomic_bool has_calls;
};

/* The processes of a file. */
struct sections {
	struct origin *rows;
	uint32_t count;
};

static bool is_nccl_function(const struct record_header *header)
{
	return header->tag >= RECORD_RCCL_FUNCTION_FIRST &&
	       header->tag < RECORD_CUDA_FUNCTION_FIRST;
}

static int read_names(void *call_search, unsigned worker, uint32_t part, struct origin_walk *walk)
{
	struct call_search *search = call_search;
	const struct record_header *header;

	while ((header = origin_walk_next(walk))) {
		const struct record_api_name *name = (const void *)header;
		char text[64] = "";
		size_t bytes;

		if (header->type != RECORD_API_NAME || !is_nccl_function(header))
			continue;
		bytes = name->text_bytes < sizeof(text) ? name->text_bytes : sizeof(text) - 1;
		memcpy(text, name->text, bytes);
		text[strcspn(text, " ")] = '\0';
		if (!rank_collectives_has_function(text))
			continue;
		search->is_collective[header->tag - RECORD_RCCL_FUNCTION_FIRST] = true;
		search->has_functions = true;
	}
	return 0;
}

static int read_calls(void *call_search, unsigned worker, uint32_t part, struct origin_walk *walk)
{
	struct call_search *search = call_search;
	const struct record_header *header;

	while (!atomic_load_explicit(&search->has_calls, memory_order_relaxed) &&
	       (header = origin_walk_next(walk))) {
		if (header->type == RECORD_API && is_nccl_function(header) &&
		    search->is_collective[header->tag - RECORD_RCCL_FUNCTION_FIRST])
			atomic_store_explicit(&search->has_calls, true, memory_order_relaxed);
	}
	return 0;
}

/* Whether the process of ORIGIN called collectives, or -ENOMEM. */
static int calls_collectives(struct origin *origin)
{
	struct call_search search = {0};
	/* One thread, which fills is_collective. */
	int err = origin_share(origin, ORIGIN_TYPE(RECORD_API_NAME), 1, read_names, &search);

	if (err == 0 && search.has_functions)
		err = origin_share(origin, ORIGIN_TYPE(RECORD_API), WORKERS_ALL, read_calls,
				   &search);
	return err < 0 ? err : search.has_calls;
}

/* ---- sections ---- */

static void close_sections(struct sections *sections)
{
	for (uint32_t i = 0; i < sections->count; i++)
		origin_close(&sections->rows[i]);
	free(sections->rows);
}

static int open_section(const char *path, const struct bundle_section *section,
			struct origin *ret_origin)
{
	const struct pack_section packed = {path, section->offset, section->bytes, section->size};

	return section->type == BUNDLE_SPOOL
		       ? spool_reader_open_memory(section->bytes, section->size, path,
						  &ret_origin->spool, NULL)
		       : pack_reader_open(&packed, &ret_origin->pack, NULL);
}

/* Opens the sections of BUNDLE with records. Returns 0, or an error of one of them. */
static int open_sections(const char *path, const struct bundle *bundle, struct sections *sections)
{
	int err = 0;

	for (uint32_t i = 0; i < bundle->section_count && err == 0; i++) {
		const struct bundle_section *section = &bundle->sections[i];
		struct origin *origin;

		if (section->type != BUNDLE_SPOOL && section->type != BUNDLE_PACKED)
			continue;
		origin = table_add((void **)&sections->rows, &sections->count, sizeof(*origin));
		if (!origin)
			return -ENOMEM;
		*origin = (struct origin){0};
		err = open_section(path, section, origin);
	}
	return err;
}

/* As trace_open orders processes. */
static int compare_sections(const void *left, const void *right)
{
	const struct spool_info *a = origin_info(left), *b = origin_info(right);

	if (a->start_ns != b->start_ns)
		return (int64_t)a->start_ns < (int64_t)b->start_ns ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return (a->session_id > b->session_id) - (a->session_id < b->session_id);
}

/* Whether the processes of all sections are known without loading them: each has its end, and none
 * called a collective. -ENOMEM if memory ran out. */
static int are_processes_enough(struct sections *sections)
{
	int calls = 0;

	for (uint32_t i = 0; i < sections->count && !calls; i++) {
		if (!origin_info(&sections->rows[i])->closed)
			return false;
		calls = calls_collectives(&sections->rows[i]);
	}
	return calls < 0 ? calls : !calls && sections->count;
}

/* ---- opening ---- */

/* Makes a trace of the process of ORIGIN without any record. */
static int open_process(const struct origin *origin, struct rank_recording *recording)
{
	const struct record_set nothing = {.info = origin_info(origin)};
	struct trace **place =
		table_add((void **)&recording->traces, &recording->count, sizeof(*place));

	if (!place)
		return -ENOMEM;
	*place = NULL;
	return trace_open_records(&nothing, NULL, place);
}

static int open_all(const char *path, struct rank_recording *recording, struct dagtap_error *error)
{
	const struct trace_options options = {
		.without_waits = true, .without_ledger = true, .without_scopes = true};
	struct trace **place =
		table_add((void **)&recording->traces, &recording->count, sizeof(*place));

	if (!place)
		return dagtap_error_set(error, -ENOMEM, "%s: out of memory", path);
	*place = NULL;
	return trace_open(path, &options, place, error);
}

int rank_recording_open(const char *path, const struct bundle *bundle,
			struct rank_recording *ret_recording, struct dagtap_error *error)
{
	struct rank_recording recording = {0};
	struct sections sections = {0};
	int err = open_sections(path, bundle, &sections), is_enough = err == 0;

	if (is_enough)
		is_enough = are_processes_enough(&sections);
	if (is_enough > 0) {
		qsort(sections.rows, sections.count, sizeof(*sections.rows), compare_sections);
		err = 0;
		for (uint32_t i = 0; i < sections.count && err == 0; i++)
			err = open_process(&sections.rows[i], &recording);
		if (err < 0)
			dagtap_error_set(error, err, "%s: %s", path, strerror(-err));
	}
	close_sections(&sections);
	/* What is wrong with a section is told by loading. */
	if (is_enough <= 0)
		err = open_all(path, &recording, error);
	if (err < 0)
		rank_recording_close(&recording);
	else
		*ret_recording = recording;
	return err;
}

void rank_recording_close(struct rank_recording *recording)
{
	for (uint32_t i = 0; i < recording->count; i++)
		trace_close(recording->traces[i]);
	free(recording->traces);
	*recording = (struct rank_recording){0};
}
