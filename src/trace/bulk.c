/* The frequent records, in the order of the file: calls into their rows, submissions into a list that
 * activities_load brings into order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/blit.h"
#include "trace/calls.h"
#include "trace/table.h"

#define SEEN_SLOTS 4096

/* A kernel with its dimensions that came lately, and the op that it is. */
struct seen_dispatch {
	uint32_t kernel;
	uint32_t grid[3];
	uint16_t workgroup[3];
	uint16_t is_used;
	uint32_t private_bytes;
	uint32_t group_bytes;
	uint32_t op;
};

struct bulk {
	struct process_load *load;
	struct call_fill calls;
	struct seen_dispatch *seen;
	uint32_t cid_hint, scope_hint, packet_hint, copy_hint;
	struct fill_thread thread;
	uint32_t queue_id, queue; /* that were asked for last */
};

static uint32_t find_queue(struct bulk *bulk, uint32_t id)
{
	if (bulk->queue_id != id || bulk->queue == TRACE_NONE) {
		bulk->queue_id = id;
		bulk->queue = load_find_queue(bulk->load, id);
	}
	return bulk->queue;
}

static uint32_t find_scope(struct bulk *bulk, uint64_t id)
{
	const struct process_load *load = bulk->load;
	uint32_t rank = id ? idset_find(&load->scope_ids, id, &bulk->scope_hint) : UINT32_MAX;

	return rank == UINT32_MAX ? TRACE_NONE : load->first.scopes + rank;
}

static uint32_t find_call(struct bulk *bulk, uint64_t cid)
{
	const struct process_load *load = bulk->load;
	uint32_t rank = cid ? idset_find(&load->cids, cid, &bulk->cid_hint) : UINT32_MAX;

	return rank == UINT32_MAX ? TRACE_NONE : load->first.calls + rank;
}

static uint32_t make_op(struct bulk *bulk, const struct record_dispatch *record)
{
	struct process_load *load = bulk->load;
	trace_string name = load_kernel_name(load, record->kernel);
	enum trace_activity_kind kind = TRACE_KERNEL;
	bool blit = blit_find(load->strings->strings[name], &kind);
	struct trace_op op;

	op_blank(&op, kind);
	op.blit = blit;
	op.name = name;
	for (int i = 0; i < 3; i++) {
		op.grid[i] = record->grid[i];
		op.workgroup[i] = record->workgroup[i];
	}
	op.private_bytes = record->private_bytes;
	op.group_bytes = record->group_bytes;
	return op_intern(&load->ops, &op);
}

static bool is_same(const struct seen_dispatch *seen, const struct record_dispatch *record)
{
	return seen->is_used && seen->kernel == record->kernel &&
	       !memcmp(seen->grid, record->grid, sizeof(seen->grid)) &&
	       !memcmp(seen->workgroup, record->workgroup, sizeof(seen->workgroup)) &&
	       seen->private_bytes == record->private_bytes &&
	       seen->group_bytes == record->group_bytes;
}

static uint32_t op_of_dispatch(struct bulk *bulk, const struct record_dispatch *record)
{
	uint32_t hash = record->kernel * 0x9e3779b1u ^ record->grid[0] * 0x85ebca6bu ^
			record->grid[1] * 0xc2b2ae35u;
	struct seen_dispatch *seen = &bulk->seen[(hash >> 16 ^ hash) % SEEN_SLOTS];

	if (is_same(seen, record))
		return seen->op;
	*seen = (struct seen_dispatch){
		.kernel = record->kernel,
		.is_used = 1,
		.private_bytes = record->private_bytes,
		.group_bytes = record->group_bytes,
		.op = make_op(bulk, record),
	};
	memcpy(seen->grid, record->grid, sizeof(seen->grid));
	memcpy(seen->workgroup, record->workgroup, sizeof(seen->workgroup));
	return seen->op;
}

static enum trace_copy_direction direction(const struct trace *trace, uint32_t dst, uint32_t src)
{
	bool to_gpu, from_gpu;

	if (dst == TRACE_NONE || src == TRACE_NONE)
		return TRACE_COPY_UNKNOWN;
	to_gpu = trace->agents[dst].is_gpu;
	from_gpu = trace->agents[src].is_gpu;
	if (to_gpu && from_gpu)
		return dst == src ? TRACE_D2D : TRACE_P2P;
	if (to_gpu)
		return TRACE_H2D;
	return from_gpu ? TRACE_D2H : TRACE_H2H;
}

static uint32_t op_of_copy(struct bulk *bulk, const struct record_copy *record)
{
	struct trace_op op;

	op_blank(&op, TRACE_COPY);
	op.dst_agent = load_find_agent(bulk->load, record->dst_agent);
	op.src_agent = load_find_agent(bulk->load, record->src_agent);
	op.direction = direction(bulk->load->trace, op.dst_agent, op.src_agent);
	op.bytes = record->bytes;
	op.dst = record->dst;
	op.src = record->src;
	return op_intern(&bulk->load->ops, &op);
}

/* Of two submissions with one id: the same one, whichever came first. */
static bool is_earlier(const struct arrival *a, const struct arrival *b)
{
	if (a->cid != b->cid)
		return a->cid < b->cid;
	if (a->ordinal != b->ordinal)
		return a->ordinal < b->ordinal;
	return a->ns < b->ns;
}

static int arrive(struct process_load *load, struct submissions *submissions,
		  const struct arrival *arrival)
{
	uint32_t *place = &submissions->rows[arrival->rank];

	if (arrival->op == TRACE_NONE)
		return -ENOMEM;
	if (*place == TRACE_NONE) {
		*place = load->arrival_count++;
	} else {
		load->duplicates++;
		if (!is_earlier(arrival, &load->arrivals[*place]))
			return 0;
	}
	load->arrivals[*place] = *arrival;
	return 0;
}

static int add_dispatch(struct bulk *bulk, const struct record_dispatch *record)
{
	struct process_load *load = bulk->load;
	uint64_t key = packet_key(record->header.tag, record->packet_index);
	struct arrival arrival = {
		.cid = record->cid,
		.ns = record->ns,
		.id = record->packet_index,
		.rank = idset_find(&load->packets.ids, key, &bulk->packet_hint),
		.op = op_of_dispatch(bulk, record),
		.call = find_call(bulk, record->cid),
		.queue = find_queue(bulk, record->header.tag),
		.ordinal = record->ordinal,
		.scope = find_scope(bulk, record->scope),
		.thread = fill_thread(&bulk->thread, load, record->tid),
		.packet_header = record->packet_header,
		.untimed = record->untimed < RECORD_UNTIMED_COUNT ? record->untimed
								  : RECORD_UNTIMED_RECORD_LOST,
	};

	load->awaited += record->untimed == RECORD_UNTIMED_NO;
	return arrive(load, &load->packets, &arrival);
}

static int add_copy(struct bulk *bulk, const struct record_copy *record)
{
	struct process_load *load = bulk->load;
	struct arrival arrival = {
		.cid = record->cid,
		.ns = record->ns,
		.id = record->copy_id,
		.rank = idset_find(&load->copies.ids, record->copy_id, &bulk->copy_hint),
		.op = op_of_copy(bulk, record),
		.call = find_call(bulk, record->cid),
		.queue = TRACE_NONE,
		.ordinal = record->ordinal,
		.scope = find_scope(bulk, record->scope),
		.thread = fill_thread(&bulk->thread, load, record->tid),
		.is_copy = true,
	};

	load->awaited++;
	return arrive(load, &load->copies, &arrival);
}

static int read_records(struct bulk *bulk)
{
	struct spool_cursor cursor;
	struct spool_record record;
	int result = 0;

	spool_cursor_init_file(&cursor, bulk->load->reader);
	while (result == 0 && spool_cursor_next(&cursor, &record)) {
		const void *at = record.header;

		if (record.type == RECORD_API)
			result = call_fill_add(&bulk->calls, &record);
		else if (record.type == RECORD_DISPATCH)
			result = add_dispatch(bulk, at);
		else if (record.type == RECORD_COPY)
			result = add_copy(bulk, at);
	}
	return result;
}

static int make_room(struct submissions *submissions)
{
	submissions->rows = table_alloc(submissions->ids.count, sizeof(*submissions->rows));
	if (!submissions->rows)
		return -ENOMEM;
	memset(submissions->rows, 0xff, submissions->ids.count * sizeof(*submissions->rows));
	return 0;
}

static uint64_t by_packet(const struct raw *row)
{
	return ((const struct record_barrier *)row->record)->packet_index;
}

static uint64_t by_queue(const struct raw *row)
{
	return ((const struct record_barrier *)row->record)->header.tag;
}

static int load_barriers(struct process_load *load)
{
	struct raw_list *list = &load->lists[RECORD_BARRIER];
	struct trace_barrier *rows;
	uint32_t used = 0;

	if (raw_sort(list, by_packet) < 0 || raw_sort(list, by_queue) < 0)
		return -ENOMEM;
	rows = trace_extend(load->trace, barriers, list->count);
	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct raw *raw = &list->rows[i];
		const struct record_barrier *record = raw->record;

		if (i && by_packet(raw - 1) == by_packet(raw) &&
		    by_queue(raw - 1) == by_queue(raw)) {
			load->duplicates++;
			continue;
		}
		rows[used] = (struct trace_barrier){
			.process = load->process,
			.queue = load_find_queue(load, record->header.tag),
			.call = load_find_call(load, record->cid),
			.packet_index = record->packet_index,
			.submit_ns = (int64_t)record->ns,
			.completion_signal = record->completion_signal,
			.packet_header = record->packet_header,
		};
		for (int dep = 0; dep < 5; dep++)
			rows[used].dep_signal[dep] = record->dep_signal[dep];
		used++;
	}
	load->trace->barriers_count -= list->count - used;
	return 0;
}

int bulk_load(struct process_load *load)
{
	struct bulk bulk = {.load = load, .queue = TRACE_NONE};
	uint64_t count = (uint64_t)load->packets.ids.count + load->copies.ids.count;
	int result = call_fill_init(&bulk.calls, load);

	bulk.seen = calloc(SEEN_SLOTS, sizeof(*bulk.seen));
	load->arrivals = table_alloc(count, sizeof(*load->arrivals));
	if (!bulk.seen || !load->arrivals || make_room(&load->packets) < 0 ||
	    make_room(&load->copies) < 0)
		result = -ENOMEM;
	if (result == 0)
		result = read_records(&bulk);
	if (result == 0)
		result = load_barriers(load);
	call_fill_release(&bulk.calls);
	free(bulk.seen);
	return result;
}
