/* Which launch ran an activity of a body: see cuda_body_launches.h. */
#include "trace/graph/cuda_body_launches.h"

#include <errno.h>
#include <stdlib.h>

#include "trace/process_load.h"
#include "trace/row_table.h"

#define HOLDERS_MOST 64 /* limit of nested graphs; damaged files may have cycles */

/* First start and last end of the activities of a launch that name its call, in host ns. */
struct body_span {
	int64_t first_ns, last_ns; /* INT64_MAX, INT64_MIN: no activity has times */
};

/* The launches of an exec. */
struct body_exec {
	bool lacks_span; /* a launch has none */
	uint32_t stop;	 /* the call of each launch before this one is known */
};

/* A successful wait of the host for all work of a context, in host ns. */
struct device_wait {
	int64_t begin_ns, end_ns;
};

static void learn_spans(struct body_launches *launches)
{
	const struct process_load *load = launches->load;
	const struct trace *trace = load->trace;

	for (uint32_t i = load->first.launches; i < trace->launches_count; i++) {
		struct body_span *span = &launches->spans[i - load->first.launches];
		uint32_t call = trace->launches[i].call;
		uint32_t count = call == TRACE_NONE ? 0 : trace->calls[call].activity_count;

		*span = (struct body_span){INT64_MAX, INT64_MIN};
		for (uint32_t k = 0; k < count; k++) {
			const struct trace_activity *row =
				&trace->activities[trace->calls[call].activity_first + k];

			if (row->untimed != RECORD_UNTIMED_NO)
				continue;
			if (row->start_ns < span->first_ns)
				span->first_ns = row->start_ns;
			if (row->end_ns > span->last_ns)
				span->last_ns = row->end_ns;
		}
	}
}

static void learn_edges(struct body_launches *launches)
{
	const struct process_load *load = launches->load;

	for (uint32_t i = load->first.edges; i < load->trace->edges_count; i++) {
		const struct trace_edge *edge = &load->trace->edges[i];

		launches->is_before[edge->from - load->first.nodes] = true;
		launches->is_after[edge->to - load->first.nodes] = true;
	}
}

static int compare_waits(const void *left, const void *right)
{
	const struct device_wait *a = left, *b = right;

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

static void learn_waits(struct body_launches *launches)
{
	const struct raw_list *list = &launches->load->raw.lists[RECORD_CUDA_SYNC];

	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_cuda_sync *sync = list->rows[i].record;

		if (sync->header.tag == RECORD_CUDA_SYNC_CONTEXT && sync->result == 0 &&
		    sync->end > sync->start)
			launches->waits[launches->waits_count++] = (struct device_wait){
				cuda_host_ns(&launches->load->cuda, sync->start),
				cuda_host_ns(&launches->load->cuda, sync->end),
			};
	}
	qsort(launches->waits, launches->waits_count, sizeof(*launches->waits), compare_waits);
}

/* Whether all work that was launched before BEGIN_NS had ended at NS, because a wait of the host
 * for the device began after BEGIN_NS and returned before NS. */
static bool was_over(const struct body_launches *launches, int64_t begin_ns, int64_t ns)
{
	uint32_t low = 0, high = launches->waits_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (launches->waits[middle].begin_ns < begin_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < launches->waits_count && launches->waits[low].end_ns <= ns;
}

/* Launches are sorted by exec. */
static void learn_execs(struct body_launches *launches)
{
	const struct process_load *load = launches->load;
	const struct trace *trace = load->trace;

	for (uint32_t i = load->first.launches; i < trace->launches_count; i++) {
		const struct trace_launch *row = &trace->launches[i];
		struct body_exec *exec = &launches->execs[row->exec - load->first.execs];

		if (i == load->first.launches || trace->launches[i - 1].exec != row->exec)
			exec->stop = i;
		if (exec->stop == i && row->call != TRACE_NONE)
			exec->stop++;
		exec->lacks_span |= launches->spans[i - load->first.launches].first_ns == INT64_MAX;
	}
}

int body_launches_init(struct body_launches *launches, struct process_load *load)
{
	const struct trace *trace = load->trace;
	uint32_t nodes = trace->nodes_count - load->first.nodes;

	*launches = (struct body_launches){.load = load};
	launches->spans =
		table_alloc(trace->launches_count - load->first.launches, sizeof(*launches->spans));
	launches->execs =
		table_zeroed(trace->execs_count - load->first.execs, sizeof(*launches->execs));
	launches->is_after = table_zeroed(nodes, sizeof(*launches->is_after));
	launches->is_before = table_zeroed(nodes, sizeof(*launches->is_before));
	launches->waits =
		table_alloc(load->raw.lists[RECORD_CUDA_SYNC].count, sizeof(*launches->waits));
	if (!launches->spans || !launches->execs || !launches->is_after || !launches->is_before ||
	    !launches->waits)
		return -ENOMEM;
	learn_spans(launches);
	learn_execs(launches);
	learn_edges(launches);
	learn_waits(launches);
	return 0;
}

void body_launches_release(struct body_launches *launches)
{
	free(launches->spans);
	free(launches->execs);
	free(launches->is_after);
	free(launches->is_before);
	free(launches->waits);
}

/* ---- which launch ---- */

/* The outermost conditional node around a node of a body. has_before, has_after: an edge leads to
 * it, or from it, or to or from a child node around it. */
struct holder {
	bool is_known, has_before, has_after;
};

static struct holder find_holder(const struct body_launches *launches, uint32_t exec, uint32_t node)
{
	const struct process_load *load = launches->load;
	const struct trace *trace = load->trace;
	struct holder holder = {0};

	for (int depth = 0; depth < HOLDERS_MOST; depth++) {
		const struct trace_graph *graph = &trace->graphs[trace->nodes[node].graph];

		if (trace->nodes[node].graph == trace->execs[exec].graph)
			return holder;
		if (graph->parent == TRACE_NONE ||
		    graph->parent_node >= trace->graphs[graph->parent].node_count)
			break;
		node = trace->graphs[graph->parent].node_first + graph->parent_node;
		/* Edges inside a body tell nothing of the order outside it, so start again. */
		if (trace->nodes[node].type == RECORD_NODE_CONDITIONAL)
			holder = (struct holder){.is_known = true};
		holder.has_before |= launches->is_after[node - load->first.nodes];
		holder.has_after |= launches->is_before[node - load->first.nodes];
	}
	return (struct holder){0};
}

/* The launches of EXEC are [returned row, *RET_STOP): launches are sorted by exec. */
static uint32_t exec_launches(const struct process_load *load, uint32_t exec, uint32_t *ret_stop)
{
	const struct trace *trace = load->trace;
	uint32_t low = load->first.launches, high = trace->launches_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (trace->launches[middle].exec < exec)
			low = middle + 1;
		else
			high = middle;
	}
	*ret_stop = low + trace->execs[exec].launch_count;
	return low;
}

/* Whether the call of LAUNCH is known and had begun at NS. */
static bool had_begun(const struct trace *trace, uint32_t launch, int64_t ns)
{
	uint32_t call = trace->launches[launch].call;

	return call != TRACE_NONE && trace->calls[call].begin_ns <= ns;
}

/* Returns the last of the launches [FIRST, STOP), whose calls are known, that had begun at NS, if
 * the launch before it certainly had ended; else TRACE_NONE. Launches of an exec are sorted by
 * time. */
static uint32_t launch_by_calls(const struct body_launches *launches, uint32_t first, uint32_t stop,
				int64_t ns)
{
	const struct trace *trace = launches->load->trace;
	uint32_t low = first, high = stop;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (had_begun(trace, middle, ns))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == first)
		return TRACE_NONE;
	if (low - first == 1 ||
	    was_over(launches, trace->calls[trace->launches[low - 2].call].end_ns, ns))
		return low - 1;
	return TRACE_NONE;
}

/* If nodes run before the conditional node (HAS_BEFORE): returns the last launch whose own nodes
 * had begun at NS. Else: the first launch whose own nodes had not all ended at NS. */
static uint32_t launch_by_spans(const struct body_launches *launches, uint32_t first, uint32_t stop,
				int64_t ns, bool has_before)
{
	const struct trace *trace = launches->load->trace;
	const struct body_span *spans = launches->spans - launches->load->first.launches;
	uint32_t low = first, high = stop;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (has_before ? spans[middle].first_ns <= ns : spans[middle].last_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (has_before)
		return low > first ? low - 1 : TRACE_NONE;
	return low < stop && had_begun(trace, low, ns) ? low : TRACE_NONE;
}

/* The launch of EXEC that ran NODE, which is in a body, at NS; or TRACE_NONE. Uses the spans if
 * every launch of the exec has one. */
uint32_t body_launches_find(const struct body_launches *launches, uint32_t exec, uint32_t node,
			    int64_t ns)
{
	struct holder holder = find_holder(launches, exec, node);
	uint32_t stop, first = exec_launches(launches->load, exec, &stop);
	const struct body_exec *facts = &launches->execs[exec - launches->load->first.execs];

	if (!holder.is_known || first == stop)
		return TRACE_NONE;
	return (holder.has_before || holder.has_after) && !facts->lacks_span
		       ? launch_by_spans(launches, first, stop, ns, holder.has_before)
		       : launch_by_calls(launches, first, facts->stop, ns);
}
