/* Matches allocations of memory with their releases (held_memory.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/held_memory.h"
#include "base/numbers.h"
#include "base/table.h"

/* An operation, or a call of CUDA's that failed. */
struct event {
	int64_t ns;
	uint32_t operation; /* TRACE_NONE: the call failed */
	uint32_t call;
};

struct matching {
	const struct trace *trace;
	struct event *events;
	uint32_t events_count;
	struct numbers addresses;
	uint32_t *live; /* by number of address: index of the live block, or TRACE_NONE */
	uint32_t live_count;
	struct memory_blocks blocks;
};

/* ---- the events ---- */

static bool is_release(const struct trace *trace, const struct event *event)
{
	return event->operation != TRACE_NONE &&
	       trace->memory_operations[event->operation].is_release;
}

static int compare_events(const void *left, const void *right)
{
	const struct event *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	if (a->operation != b->operation)
		return a->operation < b->operation ? -1 : 1;
	return (a->call > b->call) - (a->call < b->call);
}

/* Whether a function of CUDA's allocates memory, by its name. */
static bool *find_allocating_apis(const struct trace *trace)
{
	static const char *const parts[] = {"Malloc", "MemAlloc", "HostAlloc", "ArrayCreate",
					    "Array3DCreate"};
	bool *is_allocating = table_zeroed(trace->apis_count, sizeof(*is_allocating));

	for (uint32_t i = 0; i < trace->apis_count && is_allocating; i++) {
		const char *name = trace_text(trace, trace->apis[i].name);

		if (strncmp(name, "cu", 2) != 0 || strstr(name, "Graph"))
			continue;
		for (size_t p = 0; p < sizeof(parts) / sizeof(parts[0]); p++)
			is_allocating[i] |= strstr(name, parts[p]) != NULL;
	}
	return is_allocating;
}

static bool has_failed(const struct trace *trace, const bool *is_allocating, uint32_t call)
{
	return call != TRACE_NONE && trace->calls[call].result != 0 &&
	       is_allocating[trace->calls[call].api];
}

static int add_event(struct matching *matching, int64_t ns, uint32_t operation, uint32_t call)
{
	struct event *event =
		table_add((void **)&matching->events, &matching->events_count, sizeof(*event));

	if (!event)
		return -ENOMEM;
	*event = (struct event){ns, operation, call};
	return 0;
}

static int collect_events(struct matching *matching)
{
	const struct trace *trace = matching->trace;
	bool *is_allocating = find_allocating_apis(trace);
	int err = is_allocating ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < trace->memory_operations_count && err == 0; i++)
		err = add_event(matching, trace->memory_operations[i].ns, i,
				trace->memory_operations[i].call);
	for (uint32_t i = 0; i < trace->calls_count && err == 0; i++) {
		/* Of nested calls that failed, the outer one is the program's. */
		if (has_failed(trace, is_allocating, i) &&
		    !has_failed(trace, is_allocating, trace->calls[i].parent))
			err = add_event(matching, trace->calls[i].end_ns, TRACE_NONE, i);
	}
	free(is_allocating);
	if (err == 0 && matching->events_count)
		qsort(matching->events, matching->events_count, sizeof(*matching->events),
		      compare_events);
	return err;
}

/* ---- the blocks ---- */

static struct memory_block block_of_call(const struct trace *trace, uint32_t call)
{
	const struct trace_call *row = &trace->calls[call];

	return (struct memory_block){
		.process = row->process,
		.agent = TRACE_NONE,
		.stream = row->stream,
		.scope = row->scope,
		.call = call,
		.result = row->result,
		.end_ns = row->end_ns,
	};
}

static struct memory_block block_of_operation(const struct trace_memory_operation *row)
{
	return (struct memory_block){
		.process = row->process,
		.agent = row->agent,
		.stream = row->stream,
		.scope = row->scope,
		.call = row->call,
		.kind = row->kind,
		.result = row->result,
		.is_live = row->result == 0,
		.bytes = row->bytes,
		.end_ns = row->result ? row->ns : INT64_MAX,
	};
}

static void end_block(struct memory_blocks *blocks, uint32_t block, const struct event *event)
{
	struct memory_block *row = &blocks->rows[block];

	row->is_live = false;
	row->end_ns = event->ns;
	row->end = blocks->events_count;
}

/* The place of the live block at the operation's address; NULL: out of memory. */
static uint32_t *find_live(struct matching *matching, const struct trace_memory_operation *row)
{
	uint32_t number = numbers_get(&matching->addresses, row->process, row->address);

	if (number == NUMBERS_NONE)
		return NULL;
	if (number == matching->live_count) {
		uint32_t *added =
			table_add((void **)&matching->live, &matching->live_count, sizeof(*added));

		if (!added)
			return NULL;
		*added = TRACE_NONE;
	}
	return &matching->live[number];
}

static int take_release(struct matching *matching, const struct event *event)
{
	uint32_t *live = find_live(matching, &matching->trace->memory_operations[event->operation]);

	if (!live)
		return -ENOMEM;
	if (*live == TRACE_NONE)
		matching->blocks.unknown_releases++;
	else
		end_block(&matching->blocks, *live, event);
	*live = TRACE_NONE;
	return 0;
}

static int take_allocation(struct matching *matching, const struct event *event)
{
	const struct trace *trace = matching->trace;
	struct memory_blocks *blocks = &matching->blocks;
	struct memory_block *block =
		table_add((void **)&blocks->rows, &blocks->count, sizeof(*block));
	uint32_t *live;

	if (!block)
		return -ENOMEM;
	*block = event->operation == TRACE_NONE
			 ? block_of_call(trace, event->call)
			 : block_of_operation(&trace->memory_operations[event->operation]);
	block->begin_ns = event->ns;
	block->begin = blocks->events_count;
	block->end = block->is_live ? UINT32_MAX : block->begin;
	if (!block->is_live)
		return 0;
	live = find_live(matching, &trace->memory_operations[event->operation]);
	if (!live)
		return -ENOMEM;
	if (*live != TRACE_NONE)
		end_block(blocks, *live, event);
	*live = blocks->count - 1;
	return 0;
}

int memory_blocks_find(const struct trace *trace, struct memory_blocks *ret_blocks)
{
	struct matching matching = {.trace = trace};
	int err = collect_events(&matching);

	for (uint32_t i = 0; i < matching.events_count && err == 0; i++) {
		err = is_release(trace, &matching.events[i])
			      ? take_release(&matching, &matching.events[i])
			      : take_allocation(&matching, &matching.events[i]);
		matching.blocks.events_count++;
	}
	free(matching.events);
	free(matching.live);
	numbers_release(&matching.addresses);
	if (err < 0)
		memory_blocks_release(&matching.blocks);
	else
		*ret_blocks = matching.blocks;
	return err;
}

void memory_blocks_release(struct memory_blocks *blocks)
{
	free(blocks->rows);
	*blocks = (struct memory_blocks){0};
}
