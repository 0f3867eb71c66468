/* The join: each call gets its activities, and what the call knows goes to them (stream, scope, the
 * size of what it copied). Nothing is guessed: an amount of the call is passed on only if it can
 * belong to one activity alone. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/args.h"
#include "trace/load/calls.h"
#include "trace/row_table.h"

/* hipMemcpyKind */
enum memcpy_kind { KIND_H2H, KIND_H2D, KIND_D2H, KIND_D2D };

#define PARENT_DEPTH_MAX 64

static bool is_hip(const struct trace *trace, uint32_t call)
{
	return call != TRACE_NONE &&
	       trace->apis[trace->calls[call].api].domain == RECORD_DOMAIN_HIP;
}

/* Stream of the innermost call that names one, from CALL outwards. A HIP call that names none, and
 * is in no other HIP call, works on the null stream, whatever stream the library that calls it was
 * given. */
static uint32_t stream_of(const struct process_load *load, uint32_t call)
{
	const struct trace *trace = load->trace;

	for (int depth = 0; call != TRACE_NONE && depth < PARENT_DEPTH_MAX; depth++) {
		const struct trace_call *row = &trace->calls[call];

		if (row->stream != TRACE_NONE)
			return row->stream;
		if (is_hip(trace, call) && !is_hip(trace, row->parent))
			return load->first.streams;
		call = row->parent;
	}
	return TRACE_NONE;
}

static uint64_t element_bytes(const char *api)
{
	if (strstr(api, "D32"))
		return 4;
	return strstr(api, "D16") ? 2 : 1;
}

/* The value of the argument NAME, or else of OTHER. */
static bool either_arg(const struct trace *trace, const struct trace_call *call, const char *name,
		       const char *other, uint64_t *ret_value)
{
	return args_get(trace, call, name, ret_value) || args_get(trace, call, other, ret_value);
}

static bool product(uint64_t a, uint64_t b, uint64_t *ret_value)
{
	return !__builtin_mul_overflow(a, b, ret_value);
}

/* Size that the call copies or fills, from its arguments. False if they do not tell. */
static bool call_bytes(const struct trace *trace, const struct trace_call *call,
		       uint64_t *ret_bytes)
{
	const char *name = trace_text(trace, trace->apis[call->api].name);
	uint64_t value, height, depth = 1;

	if (strncmp(name, "hipMemcpy", 9) != 0 && strncmp(name, "hipMemset", 9) != 0)
		return false;
	if (either_arg(trace, call, "sizeBytes", "ByteCount", ret_bytes))
		return true;
	if (args_get(trace, call, "count", &value))
		return product(value, element_bytes(name), ret_bytes);
	if (!either_arg(trace, call, "width", "extent.width", &value) ||
	    !either_arg(trace, call, "height", "extent.height", &height))
		return false;
	args_get(trace, call, "extent.depth", &depth);
	return product(value, height, &value) && product(value, depth, ret_bytes);
}

static enum trace_copy_direction call_direction(const struct trace *trace,
						const struct trace_call *call)
{
	const char *name = trace_text(trace, trace->apis[call->api].name);
	uint64_t kind;

	if (strstr(name, "DtoD"))
		return TRACE_D2D;
	if (strstr(name, "HtoD"))
		return TRACE_H2D;
	if (strstr(name, "DtoH"))
		return TRACE_D2H;
	if (strstr(name, "Peer"))
		return TRACE_P2P;
	if (!args_get(trace, call, "kind", &kind))
		return TRACE_COPY_UNKNOWN;
	switch (kind) {
	case KIND_H2H:
		return TRACE_H2H;
	case KIND_H2D:
		return TRACE_H2D;
	case KIND_D2H:
		return TRACE_D2H;
	case KIND_D2D:
		return TRACE_D2D;
	default:
		return TRACE_COPY_UNKNOWN;
	}
}

/* Sets the addresses that the call writes to and reads from. The handle of an array is not an
 * address. */
static void call_addresses(const struct trace *trace, const struct trace_call *call,
			   struct trace_work *work)
{
	const char *name = trace_text(trace, trace->apis[call->api].name);

	if (!strstr(name, "ToArray") && !either_arg(trace, call, "dst", "dest", &work->dst))
		args_get(trace, call, "pitchedDevPtr.ptr", &work->dst);
	if (work->kind == TRACE_COPY && !strstr(name, "FromArray") && !strstr(name, "ArrayTo"))
		args_get(trace, call, "src", &work->src);
}

/* Completes the work kind of a copy or fill. Records of rectangular copies name no agents, so the
 * call gives the direction. A kernel that carries a copy has no size of its own: it gets the
 * call's, if the call caused nothing else. */
static int describe_copy(struct process_load *load, const struct trace_call *call,
			 struct trace_activity *row)
{
	const struct trace *trace = load->trace;
	const struct trace_work *known = trace_work_of(trace, row);
	bool lacks_direction = known->kind == TRACE_COPY && known->direction == TRACE_COPY_UNKNOWN;
	bool is_all_of_it = known->blit && call->activity_count == 1;
	struct trace_work work;

	if (!lacks_direction && !is_all_of_it)
		return 0;
	memcpy(&work, known, sizeof(work));
	if (lacks_direction)
		work.direction = call_direction(trace, call);
	if (is_all_of_it) {
		call_bytes(trace, call, &work.bytes);
		call_addresses(trace, call, &work);
	}
	row->work = work_intern(&load->works, &work);
	return row->work == TRACE_NONE ? -ENOMEM : 0;
}

/* CUPTI tells the stream of an activity, but neither its place in its call nor when it was
 * submitted. */
static void place_cuda(const struct trace_call *call, uint32_t ordinal, bool is_programmatic,
		       struct trace_activity *row)
{
	row->is_programmatic = is_programmatic;
	row->ordinal = ordinal;
	row->submit_ns = call->begin_ns;
}

static int describe_activities(struct process_load *load, struct trace_call *call)
{
	struct trace *trace = load->trace;
	uint32_t stream = stream_of(load, (uint32_t)(call - trace->calls));
	bool is_cuda = trace->apis[call->api].domain == RECORD_DOMAIN_CUDA;
	uint32_t rank = (uint32_t)(call - trace->calls) - load->first.calls;
	bool is_programmatic = load->call_notes.programmatic &&
			       load->call_notes.programmatic[rank / 64] >> rank % 64 & 1;

	if (is_cuda)
		call->stream = trace->activities[call->activity_first].stream;
	for (uint32_t i = 0; i < call->activity_count; i++) {
		struct trace_activity *row = &trace->activities[call->activity_first + i];

		if (is_cuda)
			place_cuda(call, i, is_programmatic, row);
		else
			row->stream = stream;
		row->thread = call->thread;
		if (row->scope == TRACE_NONE)
			row->scope = call->scope;
		if (trace_work_of(trace, row)->kind != TRACE_KERNEL &&
		    describe_copy(load, call, row) < 0)
			return -ENOMEM;
		if (row->stream != TRACE_NONE && trace->streams[row->stream].agent == TRACE_NONE)
			trace->streams[row->stream].agent = row->agent;
	}
	return 0;
}

/* There may be millions of rows, so calls and activities are walked once, side by side. */
static int join_calls(struct process_load *load, struct stream_walk *streams)
{
	uint32_t next = load->first.activities;
	int result = 0;

	for (uint32_t i = 0; i < load->raw.cids.count && result == 0; i++) {
		struct trace_call *call = &load->trace->calls[load->first.calls + i];

		result = stream_walk_take(streams, call);
		call->activity_count = load->call_notes.activity_counts[i];
		if (result < 0 || call->activity_count == 0)
			continue;
		call->activity_first = next;
		next += call->activity_count;
		result = describe_activities(load, call);
	}
	return result;
}

int join_load(struct process_load *load)
{
	struct stream_walk streams;
	int err = stream_walk_init(&streams, load);

	if (err == 0)
		err = join_calls(load, &streams);
	stream_walk_release(&streams);
	call_notes_release(&load->call_notes);
	return err;
}
