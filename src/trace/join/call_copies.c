/* What a call knows of the copies and fills that it caused (call_copies.h). */
#include "trace/join/call_copies.h"

#include <string.h>

#include "trace/args.h"

/* hipMemcpyKind */
enum memcpy_kind { KIND_H2H, KIND_H2D, KIND_D2H, KIND_D2D };

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

static bool lacks_direction(const struct trace_work *work)
{
	return work->kind == TRACE_COPY && work->direction == TRACE_COPY_UNKNOWN;
}

/* A kernel that carries a copy has no size of its own: it gets the call's, if the call caused
 * nothing else. */
static bool is_all_of(const struct trace_call *call, const struct trace_work *work)
{
	return work->blit && call->activity_count == 1;
}

bool copy_is_incomplete(const struct trace_call *call, const struct trace_work *work)
{
	return work->kind != TRACE_KERNEL && (lacks_direction(work) || is_all_of(call, work));
}

void copy_complete(const struct trace *trace, const struct trace_call *call,
		   struct trace_work *work)
{
	if (lacks_direction(work))
		work->direction = call_direction(trace, call);
	if (is_all_of(call, work)) {
		call_bytes(trace, call, &work->bytes);
		call_addresses(trace, call, work);
	}
}
