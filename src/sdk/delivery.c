/* Records of windows: see delivery.h. */
#include "sdk/delivery.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "sdk/agents.h"
#include "sdk/buffers.h"
#include "sdk/externals.h"
#include "sdk/names.h"
#include "sdk/sdk_contexts.h"
#include "sdk/time.h"
#include "sdk/told_kernels.h"

static uint64_t dispatches;

/* Whether call CID, which began at NS, belongs to context I. */
static bool has_call(uint32_t i, uint64_t cid, int64_t ns)
{
	uint64_t entry = externals_find_entry(i, cid);

	return entry ? entry == EXTERNALS_TOLD : sdk_context_had(&sdk_contexts[i], (uint64_t)ns);
}

/* The buffer in which context I wants records of KIND and OPERATION of call CID, which began at NS,
 * or NULL. */
static struct sdk_buffer *buffer_for(uint32_t i, int kind, int operation, uint64_t cid, int64_t ns)
{
	const struct sdk_buffer_service *service = &sdk_contexts[i].buffers[kind];

	if (!sdk_operations_have(&service->operations, operation) || !has_call(i, cid, ns))
		return NULL;
	return sdk_buffer_find(service->buffer);
}

/* The kinds of the calls of an interface, and the operation of the function NAME; -1: none. */
static int call_operation(enum record_domain domain, const char *name,
			  enum sdk_buffer_kind *ret_kind, enum sdk_request_kind *ret_request)
{
	bool is_rccl = domain == RECORD_DOMAIN_RCCL;

	*ret_kind = is_rccl ? SDK_BUFFER_RCCL_API : SDK_BUFFER_HIP_RUNTIME_API;
	*ret_request = is_rccl ? SDK_REQUEST_RCCL_API : SDK_REQUEST_HIP_RUNTIME_API;
	if (domain == RECORD_DOMAIN_HIP)
		return sdk_hip_operation_find(name);
	return is_rccl ? sdk_rccl_operation_find(name) : -1;
}

static int put_call(const struct trace *window, const struct trace_call *call)
{
	const struct trace_call *parent =
		call->parent == TRACE_NONE ? NULL : &window->calls[call->parent];
	struct sdk_hip_record record = {
		.size = sizeof(record),
		.correlation = {.internal = call->cid, .ancestor = parent ? parent->cid : 0},
		.start_ns = sdk_time_of((uint64_t)call->begin_ns),
		.end_ns = sdk_time_of((uint64_t)call->end_ns),
		.tid = call->thread == TRACE_NONE ? 0 : window->threads[call->thread].tid,
	};
	enum sdk_request_kind request;
	enum sdk_buffer_kind kind;
	int err = 0;

	record.operation =
		call_operation(trace_domain_of(window, call),
			       trace_text(window, window->apis[call->api].name), &kind, &request);
	record.kind = kind;
	if (record.operation < 0)
		return 0;
	for (uint32_t i = 0; i < SDK_CONTEXTS && sdk_contexts[i].is_used && err == 0; i++) {
		struct sdk_buffer *buffer =
			buffer_for(i, (int)kind, record.operation, call->cid, call->begin_ns);

		if (!buffer)
			continue;
		record.correlation.external.value = externals_find(i, call->cid, (int)request, 0);
		err = sdk_buffer_put(buffer, record.kind, &record, sizeof(record));
	}
	return err;
}

/* When the call of an activity began; its submission if the call is not known. */
static int64_t cause_ns(const struct trace *window, const struct trace_activity *row)
{
	return row->call == TRACE_NONE ? row->submit_ns : window->calls[row->call].begin_ns;
}

static uint64_t tid_of(const struct trace *window, const struct trace_activity *row)
{
	return row->thread == TRACE_NONE ? 0 : window->threads[row->thread].tid;
}

/* INDEX: of the dispatch among those of its call. */
static int put_dispatch(const struct trace *window, const struct trace_activity *row,
			uint32_t index)
{
	const struct trace_work *work = trace_work_of(window, row);
	struct sdk_dispatch_record record = {
		.size = sizeof(record),
		.kind = SDK_BUFFER_KERNEL_DISPATCH,
		.operation = SDK_DISPATCH_COMPLETE,
		.correlation = {.internal = row->cid},
		.tid = tid_of(window, row),
		.start_ns = sdk_time_of((uint64_t)row->start_ns),
		.end_ns = sdk_time_of((uint64_t)row->end_ns),
		.info =
			{
				.size = offsetof(struct sdk_dispatch_info, padding),
				.agent = agents_id(window, row->agent),
				.queue = {window->queues[row->queue].id},
				.private_bytes = work->private_bytes,
				.group_bytes = work->group_bytes,
			},
	};
	int err = 0;

	for (int axis = 0; axis < 3; axis++) {
		record.info.workgroup[axis] = work->workgroup[axis];
		record.info.grid[axis] = (uint32_t)work->grid[axis];
	}
	record.info.dispatch = ++dispatches;
	/* A tool may ask for the names of kernels without their records. */
	if (told_kernels_are_wanted())
		record.info.kernel = told_kernels_id(window, work);
	for (uint32_t i = 0; i < SDK_CONTEXTS && sdk_contexts[i].is_used && err == 0; i++) {
		struct sdk_buffer *buffer =
			buffer_for(i, SDK_BUFFER_KERNEL_DISPATCH, SDK_DISPATCH_COMPLETE, row->cid,
				   cause_ns(window, row));

		if (!buffer)
			continue;
		if (!record.info.kernel)
			record.info.kernel = told_kernels_id(window, work);
		record.correlation.external.value =
			externals_find(i, row->cid, SDK_REQUEST_KERNEL_DISPATCH, index);
		err = sdk_buffer_put(buffer, record.kind, &record, sizeof(record));
	}
	return err;
}

static uint32_t copy_operation(enum trace_copy_direction direction)
{
	switch (direction) {
	case TRACE_H2H:
		return SDK_COPY_H2H;
	case TRACE_H2D:
		return SDK_COPY_H2D;
	case TRACE_D2H:
		return SDK_COPY_D2H;
	case TRACE_D2D:
	case TRACE_P2P:
		return SDK_COPY_D2D;
	default:
		return SDK_COPY_NONE;
	}
}

/* INDEX: of the copy among those of its call. */
static int put_copy(const struct trace *window, const struct trace_activity *row, uint32_t index)
{
	const struct trace_work *work = trace_work_of(window, row);
	struct sdk_copy_record record = {
		.size = sizeof(record),
		.kind = SDK_BUFFER_MEMORY_COPY,
		.operation = copy_operation(work->direction),
		.correlation = {.internal = row->cid},
		.tid = tid_of(window, row),
		.start_ns = sdk_time_of((uint64_t)row->start_ns),
		.end_ns = sdk_time_of((uint64_t)row->end_ns),
		.dst_agent = agents_id(window, work->dst_agent),
		.src_agent = agents_id(window, work->src_agent),
		.bytes = work->bytes,
		.dst = work->dst,
		.src = work->src,
	};
	int err = 0;

	for (uint32_t i = 0; i < SDK_CONTEXTS && sdk_contexts[i].is_used && err == 0; i++) {
		struct sdk_buffer *buffer =
			buffer_for(i, SDK_BUFFER_MEMORY_COPY, (int)record.operation, row->cid,
				   cause_ns(window, row));

		if (!buffer)
			continue;
		record.correlation.external.value =
			externals_find(i, row->cid, SDK_REQUEST_MEMORY_COPY, index);
		err = sdk_buffer_put(buffer, record.kind, &record, sizeof(record));
	}
	return err;
}

/* How many dispatches and copies of a call were met. */
struct met {
	uint32_t dispatches, copies;
};

/* An activity without times has none to give: it is left out. */
static int put_activity(const struct trace *window, const struct trace_activity *row,
			struct met *met)
{
	bool is_copy = row->queue == TRACE_NONE;
	uint32_t index = is_copy ? met->copies++ : met->dispatches++;

	if (row->untimed)
		return 0;
	return is_copy ? put_copy(window, row, index) : put_dispatch(window, row, index);
}

/* Everything of CALL has been delivered: its number comes in no other record. */
static int put_retirement(const struct trace_call *call)
{
	struct sdk_retirement_record record = {
		.size = sizeof(record),
		.kind = SDK_BUFFER_CORRELATION_ID_RETIREMENT,
		.internal = call->cid,
	};
	int err = 0;

	for (uint32_t i = 0; i < SDK_CONTEXTS && sdk_contexts[i].is_used && err == 0; i++) {
		struct sdk_buffer *buffer =
			buffer_for(i, (int)record.kind, 0, call->cid, call->begin_ns);

		if (!buffer)
			continue;
		record.timestamp_ns = sdk_time_of(clock_now_ns());
		err = sdk_buffer_put(buffer, record.kind, &record, sizeof(record));
	}
	return err;
}

int delivery_put(const struct trace *window)
{
	int err = 0;

	told_kernels_begin_window();
	for (uint32_t i = 0; i < window->calls_count && err == 0; i++) {
		const struct trace_call *call = &window->calls[i];
		struct met met = {0};

		err = put_call(window, call);
		for (uint32_t k = 0; k < call->activity_count && err == 0; k++)
			err = put_activity(window, &window->activities[call->activity_first + k],
					   &met);
		if (err == 0)
			err = put_retirement(call);
		externals_drop(call->cid);
	}
	for (uint32_t i = 0; i < window->activities_count && err == 0; i++)
		if (window->activities[i].call == TRACE_NONE)
			err = put_activity(window, &window->activities[i], &(struct met){0});
	return err;
}
