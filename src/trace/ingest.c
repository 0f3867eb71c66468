/* The table of stages, and the row of a process (see ingest.h). */
#include "trace/ingest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/row_table.h"

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
		.session = info->session,
		.start_ns = (int64_t)info->start_ns,
		.end_ns = (int64_t)(info->closed ? info->end_ns : load->raw.last_ns),
		.start_realtime_ns = info->start_realtime_ns,
		.host = strtab_intern_z(load->strings, info->host),
		.exe = strtab_intern_z(load->strings, info->exe),
		.command = command_text(load->strings, info),
		.state = info->closed ? TRACE_COMPLETE : TRACE_TRUNCATED,
		.clock = load->raw.origin->rank_file,
	};
	load->trace->truncated |= !info->closed;
	return 0;
}

static int tell_damages(struct process_load *load)
{
	size_t kept;
	const struct spool_damage *damages =
		origin_damages(load->raw.origin, &kept, &load->raw.damage);

	for (size_t i = 0; i < kept; i++) {
		if (load_message(load, true, "spool of process %u, offset %llu: %s",
				 origin_info(load->raw.origin)->pid,
				 (unsigned long long)damages[i].offset, damages[i].cause) < 0)
			return -ENOMEM;
		/* Even if the spool has its end, it does not hold everything that its process
		 * wrote. */
		load->trace->truncated |= damages[i].kind == SPOOL_DAMAGE_CUT;
	}
	if (load->raw.damage > kept)
		return load_message(load, true, "and %llu more places are damaged",
				    (unsigned long long)(load->raw.damage - kept));
	return 0;
}

static int tell_notes(struct process_load *load)
{
	const struct raw_list *list = &load->raw.lists[RECORD_NOTE];

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
		.works = trace->works_count,
		.activities = trace->activities_count,
		.graphs = trace->graphs_count,
		.nodes = trace->nodes_count,
		.edges = trace->edges_count,
		.execs = trace->execs_count,
		.launches = trace->launches_count,
		.barriers = trace->barriers_count,
	};
}

/* The stages in the order in which they run. "records" are the lists of infrequent records, "file"
 * is a walk through the frequent ones, and "ids" are the sets of ids: the first walk makes them. */
static const struct ingest_stage stages[] = {
	{"notes", "records", "messages", tell_notes},
	{"catalog", "records", "threads, agents, queues, apis, kernels", catalog_load},
	{"scopes", "records, ids, threads", "scopes", scopes_load},
	/* Before there are calls and activities: each list of records is freed once it is read. */
	{"graph records", "records, ids, scopes, kernels", "graph input", graph_records_load},
	{"clocks", "records, agents", "clocks", clocks_load},
	{"cuda clock", "records, ids, agents", "cuda clock, outer calls", cuda_load},
	{"streams", "records, ids, apis", "streams, stream apis", streams_load},
	{"rows",
	 "file, ids, threads, agents, queues, scopes, apis, kernels, clocks, stream apis, "
	 "outer calls, cuda clock, streams",
	 "calls, activities, barriers, works, work numbers, ticks, activity counts, "
	 "stream handles, event notes, capture notes, update notes",
	 rows_load},
	{"join",
	 "apis, stream apis, stream handles, activity counts, calls, activities, works, "
	 "work numbers",
	 "streams of calls, works of activities", join_load},
	{"faults", "records, agents, queues, works of activities", "messages", faults_load},
	{"cuda captures", "apis, calls, capture notes", "captured calls", cuda_captures_load},
	{"cuda impossible", "agents, streams, calls, activities", "messages", cuda_impossible_load},
	{"cuda graphs",
	 "records, ids, apis, outer calls, scopes, calls, activities, capture notes, graph input",
	 "graph input, cuda nodes", cuda_graphs_load},
	{"graphs", "graph input, calls", "graphs, nodes, edges, execs, launches", graphs_load},
	{"cuda bodies",
	 "records, cuda clock, cuda nodes, calls, activities, graphs, nodes, edges, execs, "
	 "launches",
	 "calls of bodies", cuda_bodies_load},
	{"naming",
	 "update notes, graph input, cuda nodes, calls, activities, works, graphs, nodes, execs, "
	 "launches",
	 "nodes of activities, switches", naming_load},
	{"call events",
	 "event notes, graph input, apis, calls, streams of calls, activities, graphs, nodes, "
	 "execs, launches",
	 "events, event records, waits", call_events_load},
	{"cuda events",
	 "records, cuda clock, outer calls, captured calls, threads, agents, streams, calls, "
	 "graph input, graphs, nodes, execs, launches",
	 "events, event records, waits, overheads", cuda_events_load},
	{"memory",
	 "records, ids, cuda clock, outer calls, agents, scopes, streams of calls, calls, nodes, "
	 "execs, launches, nodes of activities",
	 "memory operations", memory_load},
	{"cuda expect", "records, apis, outer calls, calls, graphs, nodes, execs, launches",
	 "expected activities", cuda_expect_load},
	{"ledger",
	 "records, calls, streams of calls, activities, barriers, works, graph input, graphs, "
	 "nodes, nodes of activities, launches, switches, expected activities",
	 "sources, drops", ledger_load},
	/* The last one: before it, all times of a process are on its own clock. */
	{"rank clock",
	 "scopes, calls, activities, barriers, event records, waits, memory operations, overheads",
	 "aligned times", align_load},
};

#define STAGE_COUNT (sizeof(stages) / sizeof(stages[0]))

uint32_t ingest_stage_count(void)
{
	return STAGE_COUNT;
}

const struct ingest_stage *ingest_stage_at(uint32_t index)
{
	return index < STAGE_COUNT ? &stages[index] : NULL;
}

static void show_progress(struct ingest_progress *progress)
{
	const struct trace_options *options = progress->options;

	if (options && options->progress)
		options->progress(options->progress_context, progress->done, progress->total);
	progress->done++;
}

int ingest_process(struct trace *trace, struct strtab *strings, struct origin *origin,
		   struct ingest_progress *progress)
{
	struct process_load load = {
		.trace = trace,
		.strings = strings,
		.raw.origin = origin,
		.is_brief = progress->options && progress->options->is_brief,
		.without_waits = progress->options && progress->options->without_waits,
		.without_ledger = progress->options && progress->options->without_ledger,
		.without_scopes = progress->options && progress->options->without_scopes,
		.without_idle_calls = progress->options && progress->options->without_idle_calls,
		.without_nodes = progress->options && progress->options->without_nodes,
		.first = first_rows(trace),
	};
	int result = work_table_init(&load.works, trace);

	if (result == 0)
		result = records_load(&load);
	/* The walk has found which packed blocks are damaged, so the counts are complete now. */
	load.raw.counts = *origin_ledger(origin);
	if (result == 0)
		result = add_process(&load, origin_info(origin));
	if (result == 0)
		result = tell_damages(&load);
	for (size_t i = 0; i < STAGE_COUNT && result == 0; i++) {
		show_progress(progress);
		/* Interning may move the array of texts. A stage that interns does not read texts
		 * through the trace, or refreshes this pointer before it does. */
		trace->strings = strings->strings;
		result = stages[i].load(&load);
	}
	process_load_release(&load);
	return result;
}
