/* CUDA's ids, clock, streams and activity rows (cuda_load.h). */
#include "trace/load/cuda_load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/witnesses.h"
#include "trace/process_load.h"

#define CUPTI_HZ	 1000000000 /* CUPTI's time stamps are in ns */
#define INNER_DEPTH_MOST 8	    /* limit of nested calls; damaged files may have cycles */

static int learn_stream(struct cuda_load *cuda, uint32_t context, uint32_t stream)
{
	return stream == RECORD_CUDA_NONE
		       ? 0
		       : idset_add(&cuda->streams, cuda_stream_key(context, stream));
}

static int learn_node(struct cuda_load *cuda, uint64_t node)
{
	return node ? idset_add(&cuda->node_ids, node) : 0;
}

static int learn_step(struct cuda_load *cuda, const struct record_cuda_graph *step)
{
	if (step->header.tag == RECORD_CUDA_NODE_SWITCHED)
		return idset_add(&cuda->switched, step->exec);
	if (step->header.tag == RECORD_CUDA_GRAPHS_NUMBERED)
		return 0;
	if (learn_node(cuda, step->node) < 0 || learn_node(cuda, step->other_node) < 0 ||
	    (step->graph && idset_add(&cuda->graph_ids, step->graph) < 0))
		return -ENOMEM;
	return step->other_graph ? idset_add(&cuda->graph_ids, step->other_graph) : 0;
}

static void learn_device(struct cuda_load *cuda, uint32_t device)
{
	if (device < 64)
		cuda->devices |= 1ull << device;
}

int cuda_learn(struct cuda_load *cuda, const struct record_header *header)
{
	const void *at = header;
	const struct record_cuda_kernel *kernel = at;
	const struct record_cuda_copy *copy = at;
	const struct record_cuda_sync *sync = at;
	const struct record_cuda_event *event = at;
	const struct record_cuda_stream_handle *handle = at;

	switch (header->type) {
	case RECORD_CUDA_INNER:
		return idset_add(&cuda->inner_ids, ((const struct record_cuda_inner *)at)->cid);
	case RECORD_CUDA_KERNEL:
		learn_device(cuda, kernel->device);
		return learn_node(cuda, kernel->node) < 0
			       ? -ENOMEM
			       : learn_stream(cuda, kernel->context, kernel->stream);
	case RECORD_CUDA_COPY:
		learn_device(cuda, copy->device);
		return learn_node(cuda, copy->node) < 0
			       ? -ENOMEM
			       : learn_stream(cuda, copy->context, copy->stream);
	case RECORD_CUDA_SYNC:
		return learn_stream(cuda, sync->context, sync->stream);
	case RECORD_CUDA_EVENT:
		return learn_stream(cuda, event->context, event->stream);
	case RECORD_CUDA_STREAM_HANDLE:
		return learn_stream(cuda, handle->context, header->tag);
	case RECORD_CUDA_GRAPH:
		return learn_step(cuda, at);
	case RECORD_CUDA_UPDATE:
		return learn_node(cuda, ((const struct record_cuda_update *)at)->node);
	default:
		return 0;
	}
}

int cuda_merge(struct cuda_load *cuda, struct cuda_load *from)
{
	cuda->call_records += from->call_records;
	cuda->nccl_records += from->nccl_records;
	cuda->devices |= from->devices;
	if (idset_merge(&cuda->streams, &from->streams) < 0 ||
	    idset_merge(&cuda->inner_ids, &from->inner_ids) < 0 ||
	    idset_merge(&cuda->node_ids, &from->node_ids) < 0 ||
	    idset_merge(&cuda->switched, &from->switched) < 0)
		return -ENOMEM;
	return idset_merge(&cuda->graph_ids, &from->graph_ids);
}

int cuda_finish_sets(struct cuda_load *cuda)
{
	if (idset_finish(&cuda->streams) < 0 || idset_finish(&cuda->inner_ids) < 0 ||
	    idset_finish(&cuda->node_ids) < 0 || idset_finish(&cuda->switched) < 0)
		return -ENOMEM;
	return idset_finish(&cuda->graph_ids);
}

static int load_inner(struct process_load *load)
{
	const struct raw_list *list = &load->raw.lists[RECORD_CUDA_INNER];
	struct cuda_load *cuda = &load->cuda;

	cuda->outer = calloc((size_t)cuda->inner_ids.count + 1, sizeof(*cuda->outer));
	if (!cuda->outer)
		return -ENOMEM;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_cuda_inner *record = list->rows[i].record;

		cuda->outer[idset_find(&cuda->inner_ids, record->cid)] = record->outer;
	}
	return 0;
}

static int load_clock(struct process_load *load)
{
	const struct raw_list *list = &load->raw.lists[RECORD_ANCHOR];
	struct clock_anchor *anchors = calloc((size_t)list->count + 1, sizeof(*anchors));
	uint32_t count = 0;
	int err;

	if (!anchors)
		return -ENOMEM;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_anchor *record = list->rows[i].record;

		if (record->header.tag == RECORD_CUDA_CLOCK)
			anchors[count++] = (struct clock_anchor){
				.tick = record->tick,
				.host_ns = (int64_t)record->host_ns,
				.uncertainty_ns = record->uncertainty_ns,
			};
	}
	err = clock_fit_init(&load->cuda.clock, anchors, count, CUPTI_HZ);
	free(anchors);
	return err == -ENODATA ? 0 : err;
}

/* All CUDA devices share CUPTI's clock, so each agent gets its anchors and its fit error. */
static void tell_agents(struct process_load *load)
{
	struct trace *trace = load->trace;

	for (uint32_t i = load->first.agents; i < trace->agents_count; i++) {
		if (trace->agents[i].index < RECORD_CUDA_AGENT_FIRST)
			continue;
		trace->agents[i].anchor_count = load->cuda.clock.count;
		trace->agents[i].fit_error_ns = load->cuda.clock.residual_ns;
	}
}

static void find_source_of_waits(struct process_load *load)
{
	const struct witness_name *name = &witness_names[WITNESS_CUDA_WAITS_FROM_CALLS];
	const struct raw_list *list = &load->raw.lists[RECORD_WITNESS];

	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_witness *record = list->rows[i].record;

		if (!strncmp(record->source, name->source, sizeof(record->source)) &&
		    !strncmp(record->key, name->key, sizeof(record->key)))
			load->cuda.waits_from_calls = true;
	}
}

int cuda_load(struct process_load *load)
{
	int err = load_inner(load);

	find_source_of_waits(load);
	if (err == 0)
		err = cuda_handles_load(load);
	if (err == 0)
		err = load_clock(load);
	if (err == 0)
		tell_agents(load);
	return err;
}

void cuda_load_release(struct cuda_load *cuda)
{
	idset_release(&cuda->streams);
	idset_release(&cuda->inner_ids);
	idset_release(&cuda->node_ids);
	idset_release(&cuda->graph_ids);
	idset_release(&cuda->switched);
	clock_fit_release(&cuda->clock);
	cuda_captures_release(&cuda->captures);
	free(cuda->handles.rows);
	free(cuda->outer);
	free(cuda->nodes);
}

uint64_t cuda_outer_cid(const struct cuda_load *cuda, uint64_t cid)
{
	for (int depth = 0; cuda->inner_ids.count && depth < INNER_DEPTH_MOST; depth++) {
		uint32_t rank = idset_find(&cuda->inner_ids, cid);

		if (rank == UINT32_MAX)
			break;
		cid = cuda->outer[rank];
	}
	return cid;
}

uint32_t cuda_find_call(const struct process_load *load, uint64_t cid)
{
	return load_find_call(load, cuda_outer_cid(&load->cuda, cid));
}

int64_t cuda_host_ns(struct cuda_load *cuda, uint64_t time)
{
	if (!time || !clock_fit_is_usable(&cuda->clock))
		return 0;
	return clock_fit_convert(&cuda->clock, time, &cuda->clock_hint);
}

uint32_t cuda_find_agent(const struct process_load *load, uint32_t device)
{
	return load_find_agent(load, (uint64_t)RECORD_CUDA_AGENT_FIRST + device);
}

bool cuda_is_switched(const struct process_load *load, uint32_t exec)
{
	const struct idset *switched = &load->cuda.switched;

	return idset_find(switched, 0) != UINT32_MAX ||
	       (exec != TRACE_NONE &&
		idset_find(switched, load->trace->execs[exec].id) != UINT32_MAX);
}

uint32_t cuda_find_stream(struct process_load *load, uint32_t context, uint32_t stream)
{
	uint32_t rank = stream == RECORD_CUDA_NONE
				? UINT32_MAX
				: idset_find(&load->cuda.streams, cuda_stream_key(context, stream));

	if (rank == UINT32_MAX)
		return TRACE_NONE;
	load->trace->streams[load->cuda.stream_first + rank].handle = stream;
	load->trace->streams[load->cuda.stream_first + rank].context = context;
	return load->cuda.stream_first + rank;
}

void cuda_tell_streams(struct process_load *load)
{
	static const enum trace_stream_kind kinds[] = {
		[RECORD_CUDA_STREAM_UNKNOWN] = TRACE_STREAM_UNKNOWN,
		[RECORD_CUDA_STREAM_BLOCKING] = TRACE_STREAM_BLOCKING,
		[RECORD_CUDA_STREAM_NONBLOCKING] = TRACE_STREAM_NONBLOCKING,
		[RECORD_CUDA_STREAM_NULL] = TRACE_STREAM_NULL,
	};
	const struct raw_list *list = &load->raw.lists[RECORD_CUDA_STREAM];

	/* A context also has streams that no record uses. They have no row. */
	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_cuda_stream *record = list->rows[i].record;
		uint32_t stream = cuda_find_stream(load, record->context, record->header.tag);

		if (stream != TRACE_NONE && record->kind < sizeof(kinds) / sizeof(*kinds))
			load->trace->streams[stream].kind = kinds[record->kind];
	}
}

/* ---- activities ---- */

/* Fields that kernel and copy records have in common. */
struct common {
	uint64_t start, end, node;
	uint32_t graph, device, context, stream;
};

static void fill_row(struct process_load *load, const struct common *common,
		     struct trace_activity *row)
{
	struct cuda_load *cuda = &load->cuda;

	row->process = load->process;
	row->agent = cuda_find_agent(load, common->device);
	row->stream = cuda_find_stream(load, common->context, common->stream);
	row->queue = TRACE_NONE;
	row->id = common->node;
	if (common->graph || common->node) {
		row->queue = common->graph;
		row->confidence = TRACE_CONFIDENCE_UNKNOWN;
	}
	if (!common->start || !common->end) {
		row->untimed = RECORD_UNTIMED_SHUTDOWN;
	} else if (common->end < common->start) {
		row->untimed = RECORD_UNTIMED_BACKWARDS;
	} else if (!clock_fit_is_usable(&cuda->clock)) {
		row->untimed = RECORD_UNTIMED_NO_CLOCK;
	} else {
		row->start_ns = cuda_host_ns(cuda, common->start);
		row->end_ns = cuda_host_ns(cuda, common->end);
	}
	/* CUPTI does not report the time of submission. The start orders rows of one call for
	 * now. */
	row->submit_ns = row->start_ns;
}

int cuda_fill_kernel(struct process_load *load, const struct record_cuda_kernel *record,
		     struct trace_activity *ret_row)
{
	const struct common common = {
		record->start,	record->end,	 record->node,	 record->graph,
		record->device, record->context, record->stream,
	};
	struct load_kernel kernel = load_find_kernel(load, record->header.tag);
	struct trace_work work;

	work_blank(&work, TRACE_KERNEL);
	work.name = kernel.name;
	work.symbol = kernel.symbol;
	for (int axis = 0; axis < 3; axis++) {
		work.grid[axis] = (uint64_t)record->grid[axis] * record->block[axis];
		work.workgroup[axis] = record->block[axis];
	}
	work.private_bytes = record->local_bytes;
	work.group_bytes = record->static_bytes + record->dynamic_bytes;
	work.registers = record->registers;
	ret_row->work = work_intern(&load->works, &work);
	fill_row(load, &common, ret_row);
	return ret_row->work == TRACE_NONE ? -ENOMEM : 0;
}

static enum trace_copy_direction direction_of(const struct record_cuda_copy *record)
{
	/* By CUPTI's copyKind. CUDA arrays are device memory. */
	static const enum trace_copy_direction directions[] = {
		TRACE_COPY_UNKNOWN, TRACE_H2D, TRACE_D2H, TRACE_H2D, TRACE_D2H, TRACE_D2D,
		TRACE_D2D,	    TRACE_D2D, TRACE_D2D, TRACE_H2H, TRACE_P2P,
	};

	if (record->header.tag == RECORD_CUDA_COPY_PEER)
		return TRACE_P2P;
	return record->direction < sizeof(directions) / sizeof(*directions)
		       ? directions[record->direction]
		       : TRACE_COPY_UNKNOWN;
}

int cuda_fill_copy(struct process_load *load, const struct record_cuda_copy *record,
		   struct trace_activity *ret_row)
{
	const struct common common = {
		record->start,	record->end,	 record->node,	 record->graph,
		record->device, record->context, record->stream,
	};
	bool is_fill = record->header.tag == RECORD_CUDA_COPY_MEMSET;
	uint32_t agent = cuda_find_agent(load, record->device);
	struct trace_work work;

	work_blank(&work, is_fill ? TRACE_MEMSET : TRACE_COPY);
	work.bytes = record->bytes;
	if (!is_fill)
		work.direction = direction_of(record);
	if (work.direction == TRACE_P2P) {
		work.src_agent = cuda_find_agent(load, record->src_device);
		work.dst_agent = cuda_find_agent(load, record->dst_device);
	} else {
		if (work.direction == TRACE_D2H || work.direction == TRACE_D2D)
			work.src_agent = agent;
		if (is_fill || work.direction == TRACE_H2D || work.direction == TRACE_D2D)
			work.dst_agent = agent;
	}
	ret_row->work = work_intern(&load->works, &work);
	fill_row(load, &common, ret_row);
	return ret_row->work == TRACE_NONE ? -ENOMEM : 0;
}
