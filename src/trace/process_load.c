/* The state of loading one process: lists of records, and finding rows by id (see
 * process_load.h). */
#include "trace/process_load.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "trace/clock_fit.h"
#include "trace/create.h"
#include "trace/demangle.h"
#include "trace/expect.h"
#include "trace/row_table.h"
#include "trace/sort.h"

#define RAW_BLOCK_BYTES	     65536
#define RAW_LONG	     10000
#define RAW_LONG_BLOCK_BYTES (4u << 20)

struct raw_block {
	struct raw_block *next;
	size_t used, room;
	bool is_mapped;
	_Alignas(8) char bytes[];
};

void process_load_release(struct process_load *load)
{
	for (int i = 0; i < RECORD_TYPE_COUNT; i++)
		raw_release(&load->lists[i]);
	free(load->kernels);
	raw_release(&load->functions);
	for (uint32_t i = 0; i < load->clock_count; i++)
		clock_fit_release(&load->clocks[i]);
	free(load->clocks);
	idset_release(&load->cids);
	idset_release(&load->scope_ids);
	idset_release(&load->barrier_ids);
	idset_release(&load->packets.ids);
	idset_release(&load->copies.ids);
	free(load->packets.rows);
	free(load->copies.rows);
	free(load->activity_counts);
	free(load->expected);
	free(load->stream_handles);
	free(load->programmatic);
	free(load->stream_apis);
	work_table_release(&load->works);
	free(load->launch_cids);
	free(load->hip_events.rows);
	free(load->updates.rows);
	switches_release(&load->switches);
	cuda_load_release(&load->cuda);
	if (load->expects)
		expect_release(load->expects, load->trace->graphs_count - load->first.graphs);
}

/* Long lists use blocks that are mapped, so that their memory goes back to the system when they are
 * freed. */
static struct raw_block *add_block(struct raw_list *list, size_t bytes)
{
	struct raw_block *block;
	size_t long_room = RAW_LONG_BLOCK_BYTES - sizeof(*block);
	bool is_long = list->count >= RAW_LONG && bytes <= long_room;
	size_t room = is_long ? long_room : RAW_BLOCK_BYTES;

	if (bytes > room)
		room = bytes;
	if (is_long) {
		block = mmap(NULL, sizeof(*block) + room, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (block == MAP_FAILED)
			return NULL;
		table_ask_large_pages(block, sizeof(*block) + room);
	} else {
		block = malloc(sizeof(*block) + room);
		if (!block)
			return NULL;
	}
	*block = (struct raw_block){.next = list->blocks, .room = room, .is_mapped = is_long};
	list->blocks = block;
	return block;
}

static void free_block(struct raw_block *block)
{
	if (block->is_mapped)
		munmap(block, sizeof(*block) + block->room);
	else
		free(block);
}

int raw_add(struct raw_list *list, const struct record_header *record,
	    const struct origin_walk *walk)
{
	size_t bytes = (size_t)record->words * 8;
	struct raw_block *block = list->blocks;
	struct raw *row;

	if (!block || block->used + bytes > block->room)
		block = add_block(list, bytes);
	if (!block)
		return -ENOMEM;
	row = table_add((void **)&list->rows, &list->count, sizeof(*row));
	if (!row)
		return -ENOMEM;
	*row = (struct raw){block->bytes + block->used, walk->tid, walk->order};
	memcpy(block->bytes + block->used, record, bytes);
	block->used += bytes;
	return 0;
}

void raw_release(struct raw_list *list)
{
	while (list->blocks) {
		struct raw_block *next = list->blocks->next;

		free_block(list->blocks);
		list->blocks = next;
	}
	free(list->rows);
	*list = (struct raw_list){0};
}

uint64_t raw_order(const struct raw *row)
{
	return row->order;
}

static bool is_sorted(const struct raw_list *list, uint64_t (*key)(const struct raw *row))
{
	uint64_t before = 0;

	for (uint32_t i = 0; i < list->count; i++) {
		uint64_t here = key(&list->rows[i]);

		if (here < before)
			return false;
		before = here;
	}
	return true;
}

int raw_sort(struct raw_list *list, uint64_t (*key)(const struct raw *row))
{
	struct sort_row *order;
	struct raw *sorted;
	int err;

	if (is_sorted(list, key))
		return 0;
	order = table_alloc(list->count, sizeof(*order));
	sorted = table_alloc(list->count, sizeof(*sorted));
	err = order && sorted ? 0 : -ENOMEM;

	if (err == 0) {
		for (uint32_t i = 0; i < list->count; i++)
			order[i] = (struct sort_row){.key = key(&list->rows[i]), .index = i};
		err = sort_rows(order, list->count);
	}
	if (err == 0) {
		for (uint32_t i = 0; i < list->count; i++)
			sorted[i] = list->rows[order[i].index];
		free(list->rows);
		list->rows = sorted;
		sorted = NULL;
	}
	free(order);
	free(sorted);
	return err;
}

int64_t raw_find(const struct raw_list *list, uint64_t key,
		 uint64_t (*key_of)(const struct raw *row))
{
	uint32_t low = 0, high = list->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (key_of(&list->rows[middle]) <= key)
			low = middle + 1;
		else
			high = middle;
	}
	return (int64_t)low - 1;
}

/* Returns from the function with the row of this process whose FIELD is WANTED, in an array sorted
 * by FIELD. */
#define FIND_ROW(load, array, field, wanted)                                                       \
	do {                                                                                       \
		uint32_t low_ = (load)->first.array, high_ = (load)->trace->array##_count;         \
                                                                                                   \
		while (low_ < high_) {                                                             \
			uint32_t middle_ = low_ + (high_ - low_) / 2;                              \
                                                                                                   \
			if ((load)->trace->array[middle_].field < (wanted))                        \
				low_ = middle_ + 1;                                                \
			else                                                                       \
				high_ = middle_;                                                   \
		}                                                                                  \
		if (low_ < (load)->trace->array##_count &&                                         \
		    (load)->trace->array[low_].field == (wanted))                                  \
			return low_;                                                               \
		return TRACE_NONE;                                                                 \
	} while (0)

uint32_t load_find_thread(const struct process_load *load, uint32_t tid)
{
	FIND_ROW(load, threads, tid, tid);
}

uint32_t load_find_queue(const struct process_load *load, uint32_t id)
{
	FIND_ROW(load, queues, id, id);
}

static uint32_t find_ranked(const struct idset *set, uint32_t first, uint64_t id)
{
	uint32_t rank = id ? idset_find(set, id) : UINT32_MAX;

	return rank == UINT32_MAX ? TRACE_NONE : first + rank;
}

uint32_t load_find_scope(const struct process_load *load, uint64_t id)
{
	return find_ranked(&load->scope_ids, load->first.scopes, id);
}

uint32_t load_find_call(const struct process_load *load, uint64_t cid)
{
	return find_ranked(&load->cids, load->first.calls, cid);
}

uint32_t load_find_graph(const struct process_load *load, uint64_t id)
{
	if (id == 0)
		return TRACE_NONE;
	FIND_ROW(load, graphs, id, id);
}

uint32_t load_find_exec(const struct process_load *load, uint64_t id)
{
	FIND_ROW(load, execs, id, id);
}

uint32_t load_find_agent(const struct process_load *load, uint64_t handle)
{
	for (uint32_t i = load->first.agents; i < load->trace->agents_count; i++) {
		if (load->trace->agents[i].handle == handle && handle)
			return i;
	}
	return TRACE_NONE;
}

struct load_kernel load_find_kernel(const struct process_load *load, uint32_t id)
{
	uint32_t low = 0, high = load->kernel_count;

	/* Ids count from 1, so this mostly finds it. */
	if (id && id <= high && load->kernels[id - 1].id == id)
		return load->kernels[id - 1];
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (load->kernels[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	if (id && low < load->kernel_count && load->kernels[low].id == id)
		return load->kernels[low];
	return (struct load_kernel){.kind = TRACE_KERNEL};
}

static uint64_t function_handle(const struct raw *row)
{
	return ((const struct record_function *)row->record)->handle;
}

trace_string load_function_name(const struct process_load *load, uint64_t handle, uint64_t ns)
{
	const struct record_function *best = NULL;

	for (int64_t at = raw_find(&load->functions, handle, function_handle); at >= 0; at--) {
		const struct record_function *record = load->functions.rows[at].record;

		if (record->handle != handle)
			break;
		/* Handles are reused: take the last one known at NS, else the first ever. */
		best = record;
		if (record->ns <= ns)
			break;
	}
	return best ? demangle_intern(load->strings, best->name, best->header.tag) : 0;
}

bool load_has_losses(const struct process_load *load, enum record_class class)
{
	uint64_t lost = load->damage + load->counts.missing[class];

	for (int cause = 0; cause < RECORD_DROP_COUNT; cause++)
		lost += load->counts.dropped[class][cause];
	return lost != 0;
}

int load_message(struct process_load *load, bool damage, const char *format, ...)
{
	struct trace_message *message = trace_add(load->trace, messages);
	char text[600];
	va_list args;

	if (!message)
		return -ENOMEM;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	*message = (struct trace_message){
		.process = load->process,
		.damage = damage,
		.text = strtab_intern_z(load->strings, text),
	};
	/* The strings may have moved. The caller goes on reading them. */
	return trace_seal(load->trace);
}
