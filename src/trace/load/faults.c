/* The stage of faults: which work was on the device when the recording ended, and faults of GPUs
 * and queues.
 *
 * QUEUE_TAKEN tells how far the device had read a queue. A dispatch before that position without a
 * completion had been taken by the device. A dispatch behind it had not been taken, if the count is
 * from the very end: in a recording that was cut off it may be older, unless it was written because
 * of a fault, after which the device takes nothing. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "trace/process_load.h"

#define NAMED_MOST 8

static uint64_t by_taken(const struct raw *row)
{
	return ((const struct record_queue_taken *)row->record)->taken;
}

/* By queue, from first.queues: number of packets taken; UINT64_MAX = unknown. The caller frees it.
 * NULL: out of memory. */
static uint64_t *read_taken(struct process_load *load)
{
	struct raw_list *list = &load->raw.lists[RECORD_QUEUE_TAKEN];
	uint32_t count = load->trace->queues_count - load->first.queues;
	uint64_t *taken = malloc(((size_t)count + 1) * sizeof(*taken));

	if (!taken || raw_sort(list, by_taken) < 0) {
		free(taken);
		return NULL;
	}
	for (uint32_t i = 0; i < count; i++)
		taken[i] = UINT64_MAX;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_queue_taken *record = list->rows[i].record;
		uint32_t queue = load_find_queue(load, record->header.tag);

		if (queue != TRACE_NONE)
			taken[queue - load->first.queues] = record->taken;
	}
	return taken;
}

/* CUDA's activities have no HSA queue. */
static bool has_queue(const struct process_load *load, const struct trace_activity *row)
{
	return row->queue >= load->first.queues && row->queue < load->trace->queues_count;
}

static bool is_unfinished(const struct trace_activity *row)
{
	return row->untimed == RECORD_UNTIMED_TRUNCATED ||
	       row->untimed == RECORD_UNTIMED_SHUTDOWN ||
	       row->untimed == RECORD_UNTIMED_QUEUE_DESTROYED;
}

static bool counts_are_final(const struct process_load *load)
{
	return load->trace->processes[load->process].state != TRACE_TRUNCATED ||
	       load->raw.lists[RECORD_FAULT].count;
}

/* Sets the untimed cause of unfinished dispatches: on the device, or still in their queue. Returns
 * how many were on the device. */
static uint32_t place_unfinished(struct process_load *load, const uint64_t *taken)
{
	struct trace *trace = load->trace;
	bool is_final = counts_are_final(load);
	uint32_t on_device = 0;

	if (!load->raw.lists[RECORD_QUEUE_TAKEN].count)
		return 0;
	for (uint32_t i = load->first.activities; i < trace->activities_count; i++) {
		struct trace_activity *row = &trace->activities[i];
		uint64_t end;

		if (!is_unfinished(row) || !has_queue(load, row))
			continue;
		end = taken[row->queue - load->first.queues];
		if (end == UINT64_MAX)
			continue;
		if (row->id < end) {
			row->untimed = RECORD_UNTIMED_ON_DEVICE;
			on_device++;
		} else if (is_final) {
			row->untimed = RECORD_UNTIMED_IN_QUEUE;
		}
	}
	return on_device;
}

static int name_packets(struct process_load *load, uint32_t on_device)
{
	const struct trace *trace = load->trace;
	uint32_t named = 0;
	int err = 0;

	for (uint32_t i = load->first.activities;
	     i < trace->activities_count && named < NAMED_MOST && !err; i++) {
		const struct trace_activity *row = &trace->activities[i];

		if (row->untimed != RECORD_UNTIMED_ON_DEVICE)
			continue;
		named++;
		err = load_message(
			load, false,
			"on the device, its end was not seen: %s, packet %" PRIu64
			" of queue %" PRIu64,
			trace_text(trace, trace_work_of(trace, row)->name), row->id,
			row->queue == TRACE_NONE ? 0 : (uint64_t)trace->queues[row->queue].id);
	}
	if (!err && on_device > named)
		err = load_message(load, false, "and %" PRIu32 " more", on_device - named);
	return err;
}

static int tell_fault(struct process_load *load, const struct record_fault *fault)
{
	static const char *const reasons[] = {"page not present",  "write to a read-only page",
					      "execution of data", "host-only page",
					      "DRAM ECC",	   "address is imprecise",
					      "SRAM ECC"};
	uint32_t agent = load_find_agent(load, fault->agent);
	const char *name = agent == TRACE_NONE
				   ? "a GPU"
				   : trace_text(load->trace, load->trace->agents[agent].name);
	const char *why = "unknown reason";

	if (fault->status)
		return load_message(load, false, "queue %" PRIu32 " of %s failed: HSA status 0x%x",
				    fault->header.tag, name, fault->status);
	for (size_t i = sizeof(reasons) / sizeof(reasons[0]); i-- > 0;) {
		if (fault->reason & 1u << i)
			why = reasons[i];
	}
	if (fault->reason & 1u << 31)
		why = "hang, the GPU was reset";
	return load_message(load, false, "memory fault of %s at address 0x%" PRIx64 ": %s", name,
			    fault->address, why);
}

int faults_load(struct process_load *load)
{
	const struct raw_list *faults = &load->raw.lists[RECORD_FAULT];
	uint64_t *taken = read_taken(load);
	uint32_t on_device;
	int err = 0;

	if (!taken)
		return -ENOMEM;
	on_device = load->tally.has_untimed ? place_unfinished(load, taken) : 0;
	free(taken);
	for (uint32_t i = 0; i < faults->count && !err; i++)
		err = tell_fault(load, faults->rows[i].record);
	return err || !load->tally.has_untimed ? err : name_packets(load, on_device);
}
