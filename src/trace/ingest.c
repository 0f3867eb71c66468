#include "trace/ingest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/table.h"

static int count_records(const struct spool_reader *reader, uint64_t counts[RECORD_TYPE_COUNT])
{
	struct spool_cursor cursor;
	struct spool_record record;

	for (uint32_t w = 0; w < spool_reader_writer_count(reader); w++) {
		spool_cursor_init(&cursor, reader, w);
		while (spool_cursor_next(&cursor, &record))
			counts[record.type]++;
	}
	for (int type = 0; type < RECORD_TYPE_COUNT; type++) {
		if (counts[type] >= TRACE_NONE)
			return -E2BIG;
	}
	return 0;
}

static int collect_records(struct process_load *load, const struct spool_reader *reader)
{
	uint64_t counts[RECORD_TYPE_COUNT] = {0};
	struct spool_cursor cursor;
	struct spool_record record;

	if (count_records(reader, counts) < 0)
		return -E2BIG;
	for (int type = 0; type < RECORD_TYPE_COUNT; type++) {
		load->lists[type].rows = calloc(counts[type] + 1, sizeof(struct raw));
		if (!load->lists[type].rows)
			return -ENOMEM;
	}
	for (uint32_t w = 0; w < spool_reader_writer_count(reader); w++) {
		spool_cursor_init(&cursor, reader, w);
		while (spool_cursor_next(&cursor, &record)) {
			struct raw_list *list = &load->lists[record.type];

			list->rows[list->count++] = (struct raw){record.header, record.tid};
		}
	}
	return 0;
}

/* The latest moment that any of the frequent records knows. */
static uint64_t last_ns(const struct process_load *load)
{
	uint64_t last = 0;

#define LATEST(type, structure, field)                                                             \
	for (uint32_t i = 0; i < load->lists[type].count; i++) {                                   \
		const struct structure *record = load->lists[type].rows[i].record;                 \
		if (record->field > last)                                                          \
			last = record->field;                                                      \
	}
	LATEST(RECORD_THREAD, record_thread, ns)
	LATEST(RECORD_API, record_api, end_ns)
	LATEST(RECORD_DISPATCH, record_dispatch, ns)
	LATEST(RECORD_COPY, record_copy, ns)
	LATEST(RECORD_SCOPE, record_scope, ns)
	LATEST(RECORD_ANCHOR, record_anchor, host_ns)
#undef LATEST
	return last;
}

static trace_string command_text(struct strtab *strings, const struct spool_info *info)
{
	char text[2048];
	size_t bytes = info->cmdline_bytes < sizeof(text) ? info->cmdline_bytes : sizeof(text);

	memcpy(text, info->cmdline, bytes);
	while (bytes && text[bytes - 1] == '\0')
		bytes--;
	for (size_t i = 0; i < bytes; i++) {
		if (text[i] == '\0')
			text[i] = ' ';
	}
	return strtab_intern(strings, text, bytes);
}

static int add_process(struct process_load *load, const struct spool_info *info)
{
	struct trace_process *row = trace_add(load->trace, processes);

	if (!row)
		return -ENOMEM;
	load->process = load->trace->processes_count - 1;
	*row = (struct trace_process){
		.pid = info->pid,
		.parent_pid = info->ppid,
		.start_ns = (int64_t)info->start_ns,
		.end_ns = (int64_t)(info->closed ? info->end_ns : last_ns(load)),
		.start_realtime_ns = info->start_realtime_ns,
		.exe = strtab_intern_z(load->strings, info->exe),
		.command = command_text(load->strings, info),
		.state = info->closed ? TRACE_COMPLETE : TRACE_TRUNCATED,
	};
	load->trace->truncated |= !info->closed;
	return 0;
}

static int tell_damages(struct process_load *load, const struct spool_reader *reader)
{
	size_t kept;
	const struct spool_damage *damages = spool_reader_damages(reader, &kept, &load->damage);

	for (size_t i = 0; i < kept; i++) {
		if (load_message(load, true, "spool of process %u, offset %llu: %s",
				 spool_reader_info(reader)->pid,
				 (unsigned long long)damages[i].offset, damages[i].cause) < 0)
			return -ENOMEM;
	}
	if (load->damage > kept)
		return load_message(load, true, "and %llu more places are damaged",
				    (unsigned long long)(load->damage - kept));
	return 0;
}

static int tell_notes(struct process_load *load)
{
	const struct raw_list *list = &load->lists[RECORD_NOTE];

	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_note *note = list->rows[i].record;

		if (load_message(load, false, "%.*s", (int)note->header.tag, note->text) < 0)
			return -ENOMEM;
	}
	return 0;
}

static struct process_first first_rows(const struct trace *trace)
{
	return (struct process_first){
		.threads = trace->threads_count,
		.agents = trace->agents_count,
		.queues = trace->queues_count,
		.streams = trace->streams_count,
		.scopes = trace->scopes_count,
		.apis = trace->apis_count,
		.calls = trace->calls_count,
		.activities = trace->activities_count,
		.graphs = trace->graphs_count,
		.nodes = trace->nodes_count,
		.edges = trace->edges_count,
		.execs = trace->execs_count,
		.launches = trace->launches_count,
		.barriers = trace->barriers_count,
	};
}

static int (*const stages[])(struct process_load *) = {
	tell_notes,	 catalog_load, scopes_load, clocks_load, calls_load,  streams_load,
	activities_load, join_load,    graphs_load, naming_load, ledger_load,
};

#define STAGE_COUNT (sizeof(stages) / sizeof(stages[0]))

uint32_t ingest_stage_count(void)
{
	return STAGE_COUNT;
}

static void show_progress(struct ingest_progress *progress)
{
	const struct trace_options *options = progress->options;

	if (options && options->progress)
		options->progress(options->progress_context, progress->done, progress->total);
	progress->done++;
}

int ingest_spool(struct trace *trace, struct strtab *strings, const struct spool_reader *reader,
		 struct ingest_progress *progress)
{
	struct process_load load = {
		.trace = trace,
		.strings = strings,
		.first = first_rows(trace),
		.counts = *spool_reader_ledger(reader),
	};
	int result = collect_records(&load, reader);

	if (result == 0)
		result = add_process(&load, spool_reader_info(reader));
	if (result == 0)
		result = tell_damages(&load, reader);
	for (size_t i = 0; i < STAGE_COUNT && result == 0; i++) {
		show_progress(progress);
		/* A stage either interns text or reads what earlier ones interned. */
		trace->strings = strings->strings;
		result = stages[i](&load);
	}
	process_load_release(&load);
	return result;
}
