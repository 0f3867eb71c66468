/* Opening the recordings of ranks (rank_recording.h). */
#include "merge/rank_recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "merge/rank_calls.h"
#include "merge/rank_records.h"

/* The processes of a file. */
struct sections {
	struct origin *rows;
	uint32_t count;
};

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

/* ---- opening ---- */

static const struct trace_options load_options = {
	.without_waits = true, .without_ledger = true, .without_scopes = true};

/* Makes a trace of the process of ORIGIN with the collectives that it has. */
static int open_process(struct origin *origin, struct rank_recording *recording)
{
	const struct spool_info *info = origin_info(origin);
	struct trace **place =
		table_add((void **)&recording->traces, &recording->count, sizeof(*place));
	struct rank_records records = {0};
	int err;

	if (!place)
		return -ENOMEM;
	*place = NULL;
	err = rank_calls_are_there(origin);
	/* When a process that was cut off ended, only its records tell. */
	if (err > 0 || (err == 0 && !info->closed))
		err = rank_records_select(origin, &records);
	if (err == 0)
		err = rank_steady_add(&recording->steady, records.runs, records.run_count);
	if (err == 0) {
		const struct record_set set = {info, records.runs, records.run_count};

		err = trace_open_records(&set, &load_options, place);
	}
	rank_records_release(&records);
	return err;
}

static int open_processes(struct sections *sections, struct rank_recording *recording)
{
	int err = 0;

	qsort(sections->rows, sections->count, sizeof(*sections->rows), compare_sections);
	for (uint32_t i = 0; i < sections->count && err == 0; i++)
		err = open_process(&sections->rows[i], recording);
	return err;
}

static int open_all(const char *path, struct rank_recording *recording, struct dagtap_error *error)
{
	struct trace **place =
		table_add((void **)&recording->traces, &recording->count, sizeof(*place));

	if (!place)
		return dagtap_error_set(error, -ENOMEM, "%s: out of memory", path);
	*place = NULL;
	return trace_open(path, &load_options, place, error);
}

int rank_recording_open(const char *path, const struct bundle *bundle,
			struct rank_recording *ret_recording, struct dagtap_error *error)
{
	struct rank_recording recording = {0};
	struct sections sections = {0};
	int err = open_sections(path, bundle, &sections);

	/* What is wrong with a section is told by loading. */
	if (err < 0 || sections.count == 0) {
		err = open_all(path, &recording, error);
	} else {
		err = open_processes(&sections, &recording);
		if (err < 0)
			dagtap_error_set(error, err, "%s: %s", path, strerror(-err));
	}
	close_sections(&sections);
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
	rank_steady_release(&recording->steady);
	*recording = (struct rank_recording){0};
}
