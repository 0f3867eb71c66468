/* Finds the launches that certainly ended (cuda_ends.h). */
#include "trace/ledger/cuda_ends.h"

#include <errno.h>
#include <stdlib.h>

#include "trace/process_load.h"
#include "trace/row_table.h"

static void raise_ns(int64_t *ns, int64_t to)
{
	if (*ns < to)
		*ns = to;
}

static void learn_replays(const struct process_load *load, uint64_t *replays)
{
	const struct trace *trace = load->trace;

	for (uint32_t i = load->first.launches; i < trace->launches_count; i++) {
		const struct trace_launch *launch = &trace->launches[i];
		uint64_t *last;

		if (launch->exec == TRACE_NONE || !launch->activity_count)
			continue;
		last = &replays[launch->exec - load->first.execs];
		if (*last < launch->replay)
			*last = launch->replay;
	}
}

/* An activity of a call shows that all work submitted to its stream before that call has ended.
 * Activities of graph launches do not count: branches of a graph run on other streams. */
static void learn_streams(const struct process_load *load, int64_t *streams)
{
	const struct trace *trace = load->trace;

	for (uint32_t i = load->first.calls; i < trace->calls_count; i++) {
		const struct trace_call *call = &trace->calls[i];

		if (call->activity_count && call->launch == TRACE_NONE &&
		    call->stream != TRACE_NONE)
			raise_ns(&streams[call->stream], call->begin_ns);
	}
}

/* Whether all streams belong to one context. CUPTI's record of a device wait names the context, but
 * the row of the wait does not, so with several contexts a device wait proves nothing. The set of
 * streams is sorted by key, and the upper half of a key is the context. */
static bool has_one_context(const struct process_load *load)
{
	const struct idset *streams = &load->cuda.streams;
	uint64_t pages_each = cuda_stream_key(1, 0) / (IDSET_PAGE_WORDS * 64);
	uint64_t first = streams->page_count ? streams->pages[0].number / pages_each : 0;

	for (uint32_t i = 0; i < streams->page_count; i++)
		if (streams->pages[i].number / pages_each != first)
			return false;
	return streams->page_count > 0;
}

static void learn_wait(const struct trace *trace, const struct trace_wait *wait, bool is_alone,
		       struct cuda_ends *ends)
{
	const struct trace_call *call = &trace->calls[wait->call];

	if (trace->apis[call->api].domain != RECORD_DOMAIN_CUDA)
		return;
	if (wait->type == TRACE_WAIT_STREAM && wait->stream != TRACE_NONE)
		raise_ns(&ends->streams[wait->stream], call->begin_ns);
	else if (wait->type == TRACE_WAIT_DEVICE && is_alone)
		raise_ns(&ends->device_ns, call->begin_ns);
}

static void learn_waits(const struct process_load *load, struct cuda_ends *ends)
{
	const struct trace *trace = load->trace;
	bool is_alone = has_one_context(load);

	for (uint32_t i = 0; i < trace->waits_count; i++) {
		const struct trace_wait *wait = &trace->waits[i];

		if (wait->process == load->process && wait->call != TRACE_NONE && !wait->result)
			learn_wait(trace, wait, is_alone, ends);
	}
}

int cuda_ends_find(const struct process_load *load, struct cuda_ends *ret)
{
	const struct trace *trace = load->trace;

	*ret = (struct cuda_ends){
		.replays =
			table_zeroed(trace->execs_count - load->first.execs, sizeof(*ret->replays)),
		.streams = table_zeroed(trace->streams_count, sizeof(*ret->streams)),
	};
	if (!ret->replays || !ret->streams) {
		cuda_ends_release(ret);
		return -ENOMEM;
	}
	learn_replays(load, ret->replays);
	learn_streams(load, ret->streams);
	learn_waits(load, ret);
	return 0;
}

bool cuda_ends_cover(const struct cuda_ends *ends, const struct process_load *load,
		     const struct trace_launch *launch)
{
	const struct trace_call *call = &load->trace->calls[launch->call];

	return launch->replay < ends->replays[launch->exec - load->first.execs] ||
	       call->end_ns < ends->device_ns ||
	       (call->stream != TRACE_NONE && call->end_ns < ends->streams[call->stream]);
}

void cuda_ends_release(struct cuda_ends *ends)
{
	free(ends->replays);
	free(ends->streams);
	*ends = (struct cuda_ends){0};
}
