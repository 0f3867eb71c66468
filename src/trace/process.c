#include "trace/process.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/clock.h"
#include "trace/expect.h"
#include "trace/sort.h"
#include "trace/table.h"

void process_load_release(struct process_load *load)
{
	for (int i = 0; i < RECORD_TYPE_COUNT; i++)
		free(load->lists[i].rows);
	free(load->kernels.rows);
	free(load->functions.rows);
	for (uint32_t i = 0; i < load->clock_count; i++)
		clock_fit_release(&load->clocks[i]);
	free(load->clocks);
	idset_release(&load->cids);
	idset_release(&load->scope_ids);
	idset_release(&load->packets.ids);
	idset_release(&load->copies.ids);
	free(load->packets.rows);
	free(load->copies.rows);
	free(load->arrivals);
	free(load->stream_handles);
	free(load->stream_apis);
	op_table_release(&load->ops);
	free(load->launch_cids);
	if (load->expects)
		expect_release(load->expects, load->trace->graphs_count - load->first.graphs);
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
	int result;

	if (is_sorted(list, key))
		return 0;
	order = malloc(((size_t)list->count + 1) * sizeof(*order));
	sorted = malloc(((size_t)list->count + 1) * sizeof(*sorted));
	result = order && sorted ? 0 : -ENOMEM;

	if (result == 0) {
		for (uint32_t i = 0; i < list->count; i++)
			order[i] = (struct sort_row){.key = key(&list->rows[i]), .index = i};
		result = sort_rows(order, list->count);
	}
	if (result == 0) {
		for (uint32_t i = 0; i < list->count; i++)
			sorted[i] = list->rows[order[i].index];
		free(list->rows);
		list->rows = sorted;
		sorted = NULL;
	}
	free(order);
	free(sorted);
	return result;
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

/* Finds the row of this process whose FIELD is KEY in an array of the trace sorted by FIELD. */
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
	uint32_t hint = 0;
	uint32_t rank = id ? idset_find(set, id, &hint) : UINT32_MAX;

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

uint32_t load_find_agent(const struct process_load *load, uint64_t handle)
{
	for (uint32_t i = load->first.agents; i < load->trace->agents_count; i++) {
		if (load->trace->agents[i].handle == handle && handle)
			return i;
	}
	return TRACE_NONE;
}

static uint64_t kernel_id(const struct raw *row)
{
	return ((const struct record_kernel *)row->record)->header.tag;
}

trace_string load_kernel_name(const struct process_load *load, uint32_t kernel)
{
	int64_t at = raw_find(&load->kernels, kernel, kernel_id);
	const struct record_kernel *record;

	if (kernel == 0 || at < 0)
		return 0;
	record = load->kernels.rows[at].record;
	if (record->header.tag != kernel)
		return 0;
	return strtab_intern(load->strings, record->name, record->name_bytes);
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
		/* Handles are re-used: the last one known by then; failing that, the first ever. */
		best = record;
		if (record->ns <= ns)
			break;
	}
	return best ? strtab_intern(load->strings, best->name, best->header.tag) : 0;
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
	return 0;
}
