/* Finds the rows of the process that is being loaded by their ids (process_load.h). */
#include "trace/demangle.h"
#include "trace/process_load.h"

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
	return find_ranked(&load->raw.scope_ids, load->first.scopes, id);
}

uint32_t load_find_call(const struct process_load *load, uint64_t cid)
{
	return find_ranked(&load->raw.cids, load->first.calls, cid);
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

	for (int64_t at = raw_find(&load->raw.functions, handle, function_handle); at >= 0; at--) {
		const struct record_function *record = load->raw.functions.rows[at].record;

		if (record->handle != handle)
			break;
		/* Handles are reused: take the last one known at NS, else the first ever. */
		best = record;
		if (record->ns <= ns)
			break;
	}
	return best ? demangle_intern(load->strings, best->name, best->header.tag) : 0;
}
