/* Writes the host's rows: the calls and scopes of each thread, nested, on one tid, and its ranges
 * on others. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "format/kineto/kineto_writer.h"
#include "format/words.h"

/* An upper bound for the parts of a row that are no pieces. */
#define ROW_BYTES 1024

struct api_entry {
	struct piece head; /* text of the row up to the pid */
	struct piece args; /* text from after the duration up to the correlation's number */
};

struct host {
	struct kineto *kineto;
	const struct trace *trace;
	struct api_entry *apis;
	struct rows_nest nest;
	struct piece place; /* for the current tid: text from the pid up to the time */
};

/* ---- calls ---- */

static const char *category_of(const struct trace *trace, const struct trace_api *api)
{
	const char *name = trace_text(trace, api->name);

	switch (api->domain) {
	case RECORD_DOMAIN_HSA:
		return "cuda_driver";
	case RECORD_DOMAIN_CUDA:
		return strncmp(name, "cu", 2) == 0 && strncmp(name, "cuda", 4) != 0
			       ? "cuda_driver"
			       : "cuda_runtime";
	case RECORD_DOMAIN_RCCL:
		return "cpu_op";
	default:
		return "cuda_runtime";
	}
}

/* The number of the function: CUPTI's callback id, or dagtap's number of a HIP or other
 * function. */
static uint32_t callback_id(const struct trace_api *api)
{
	if (api->domain != RECORD_DOMAIN_CUDA || api->function < RECORD_CUDA_FUNCTION_FIRST)
		return api->function;
	return api->function >= RECORD_CUDA_FUNCTION_RUNTIME
		       ? api->function - RECORD_CUDA_FUNCTION_RUNTIME
		       : api->function - RECORD_CUDA_FUNCTION_DRIVER;
}

static const struct api_entry *find_api(struct host *host, uint32_t number)
{
	struct api_entry *entry = &host->apis[number];
	const struct trace_api *api = &host->trace->apis[number];
	struct pieces *text = &host->kineto->text;
	const char *name = trace_text(host->trace, api->name);
	size_t begin = text->used;
	char hta_name[160];

	if (entry->head.bytes)
		return entry;
	if (host->kineto->is_hta) {
		kineto_hta_name(name, hta_name, sizeof(hta_name));
		name = hta_name;
	}
	kineto_text_put(text,
			"{\"ph\":\"X\",\"cat\":\"%s\",\"name\":", category_of(host->trace, api));
	kineto_text_quote(text, name);
	entry->head = pieces_since(text, begin);
	begin = text->used;
	kineto_text_put(text, ",\"args\":{");
	/* rows of another tool's file have their own cbid */
	if (!host->trace->call_attributes)
		kineto_text_put(text, "\"cbid\":%" PRIu32 ",", callback_id(api));
	kineto_text_put(text, "\"correlation\":");
	entry->args = pieces_since(text, begin);
	return entry;
}

static char *put_graph_launch(char *at, const struct trace *trace, const struct trace_call *call)
{
	const struct trace_launch *launch = &trace->launches[call->launch];

	at = KINETO_PUT(at, ",\"graph id\":");
	at = kineto_put_u64(at, trace->execs[launch->exec].id);
	at = KINETO_PUT(at, ",\"replay\":");
	return kineto_put_u64(at, launch->replay);
}

static char *put_arrow(struct kineto *kineto, char *at, uint64_t correlation, const char *place,
		       size_t bytes)
{
	at = KINETO_PUT(at, "{\"ph\":\"s\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":");
	at = kineto_put_near(&kineto->correlations, at, correlation);
	at = pieces_copy_bytes(at, place, bytes);
	return KINETO_PUT(at, "},\n");
}

/* For HTA: writes activity ROW's stand-in, a row that looks like its launch. */
static void put_stand_in(struct host *host, const struct trace_call *call, uint32_t row,
			 int64_t begin_ns, uint64_t share)
{
	static const char *const names[] = {[TRACE_KERNEL] = "cudaLaunchKernel",
					    [TRACE_COPY] = "cudaMemcpyAsync",
					    [TRACE_MEMSET] = "cudaMemsetAsync"};
	struct kineto *kineto = host->kineto;
	const struct trace_activity *activity = &host->trace->activities[row];
	char *at = kineto_out_begin(&kineto->out, ROW_BYTES);
	char *place;
	size_t place_bytes;

	if (!at || !kineto_is_timed(activity))
		return;
	at = KINETO_PUT(at, "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"");
	at = kineto_put_z(at, names[trace_work_of(host->trace, activity)->kind]);
	*at++ = '"';
	place = at;
	at = pieces_copy(at, &kineto->text, host->place);
	at = kineto_put_time(&kineto->out, at, begin_ns);
	place_bytes = (size_t)(at - place);
	at = KINETO_PUT(at, ",\"dur\":");
	at = kineto_put_us(at, share);
	at = KINETO_PUT(at, ",\"args\":{\"correlation\":");
	at = kineto_put_u64(at, kineto_stand_in(kineto, row));
	at = KINETO_PUT(at, ",\"graph launch correlation\":");
	at = kineto_put_u64(at, timeline_correlation(&kineto->timeline, call->process, call->cid));
	at = KINETO_PUT(at, "}},\n");
	kineto_out_end(&kineto->out,
		       put_arrow(kineto, at, kineto_stand_in(kineto, row), place, place_bytes));
}

/* Order of struct kineto_turn. */
static int compare_turns(const void *a, const void *b)
{
	const struct kineto_turn *left = a, *right = b;

	if (left->node != right->node)
		return left->node < right->node ? -1 : 1;
	return left->activity < right->activity ? -1 : left->activity > right->activity;
}

/* The stand-ins of a graph launch divide its time equally. They are in the order in which the
 * graph's nodes were made, so that those of an operator are side by side. */
static void put_stand_ins(struct host *host, const struct trace_call *call)
{
	struct rows_time time = timeline_call_time(call, 0);
	struct kineto_turn *turns = calloc(call->activity_count, sizeof(*turns));
	uint64_t share = timeline_span_ns(time) / call->activity_count, margin;

	if (!turns) {
		kineto_fail(host->kineto, -ENOMEM);
		return;
	}
	for (uint32_t i = 0; i < call->activity_count; i++) {
		turns[i].activity = call->activity_first + i;
		turns[i].node = host->trace->activities[turns[i].activity].node;
	}
	qsort(turns, call->activity_count, sizeof(*turns), compare_turns);
	margin = kineto_put_replayed_operators(host->kineto, turns, call->activity_count,
					       time.begin_ns, share, host->place);
	for (uint32_t i = 0; i < call->activity_count; i++)
		put_stand_in(host, call, turns[i].activity,
			     time.begin_ns + (int64_t)(share * i + margin), share - 2 * margin);
	free(turns);
}

/* Puts what the args of a call have beside those of its API. */
static char *put_call_args(char *at, const struct host *host, const struct trace_call *call,
			   uint64_t correlation)
{
	struct kineto *kineto = host->kineto;

	at = kineto_put_near(&kineto->correlations, at, correlation);
	if (call->scope != TRACE_NONE) {
		at = KINETO_PUT(at, ",\"External id\":");
		at = kineto_put_near(&kineto->external_ids, at, kineto_external_id(call->scope));
	}
	if (call->result) {
		at = KINETO_PUT(at, ",\"result\":");
		at = kineto_put_i64(at, call->result);
	}
	return call->launch == TRACE_NONE ? at : put_graph_launch(at, host->trace, call);
}

static void put_call(struct host *host, uint32_t row)
{
	struct kineto *kineto = host->kineto;
	const struct pieces *text = &kineto->text;
	const struct trace_call *call = &host->trace->calls[row];
	const struct api_entry *api = find_api(host, call->api);
	struct rows_time time = timeline_call_time(host->trace->calls, row);
	unsigned marks = kineto_marks(kineto, row);
	struct piece set = kineto_find_set(kineto, host->trace->call_attributes, row);
	uint64_t correlation = timeline_correlation(&kineto->timeline, call->process, call->cid);
	size_t place_bytes;
	char *at = kineto_out_begin(&kineto->out, (size_t)api->head.bytes + api->args.bytes +
							  set.bytes + ROW_BYTES);
	char *place;

	if (!at)
		return;
	at = pieces_copy(at, text, api->head);
	place = at;
	at = pieces_copy(at, text, host->place);
	at = kineto_put_time(&kineto->out, at, time.begin_ns);
	place_bytes = (size_t)(at - place);
	at = KINETO_PUT(at, ",\"dur\":");
	at = kineto_put_us(at, timeline_span_ns(time));
	at = pieces_copy(at, text, api->args);
	at = put_call_args(at, host, call, correlation);
	if (marks & KINETO_MARK_WAIT)
		at = kineto_put_wait_args(kineto, at, row);
	at = pieces_copy(at, text, set);
	at = KINETO_PUT(at, "}},\n");
	if (marks & KINETO_MARK_WORK && !kineto_has_stand_ins(kineto, call))
		at = put_arrow(kineto, at, correlation, place, place_bytes);
	kineto_out_end(&kineto->out, at);
	if (kineto_has_stand_ins(kineto, call) && call->activity_count)
		put_stand_ins(host, call);
}

/* ---- scopes ---- */

static char *put_scope_args(struct kineto *kineto, char *at, const struct trace_scope *scope,
			    uint32_t row)
{
	at = KINETO_PUT(at, ",\"args\":{\"External id\":");
	at = kineto_put_near(&kineto->external_ids, at, kineto_external_id(row));
	at = KINETO_PUT(at, ",\"scope id\":");
	at = kineto_put_near(&kineto->scope_ids, at, scope->id);
	if (scope->parent != TRACE_NONE) {
		at = KINETO_PUT(at, ",\"parent External id\":");
		at = kineto_put_u64(at, kineto_external_id(scope->parent));
	}
	if (scope->kind != RECORD_SCOPE_DAGTAP) {
		at = KINETO_PUT(at, ",\"scope kind\":\"");
		at = kineto_put_z(at, words_scope_kind(scope->kind));
		*at++ = '"';
	}
	return scope->open ? KINETO_PUT(at, ",\"open\":true") : at;
}

static void put_scope(struct host *host, uint32_t row)
{
	struct kineto *kineto = host->kineto;
	const struct trace_scope *scope = &host->trace->scopes[row];
	struct rows_time time = timeline_scope_time(host->trace->scopes, row);
	bool is_mark = scope->kind == RECORD_SCOPE_MARK;
	struct piece name = kineto_host_scope_name(kineto, row);
	struct piece attributes;
	size_t place_bytes;
	char *at, *place;

	kineto_put_attributes(kineto, scope->attribute_first, scope->attribute_count);
	attributes = pieces_since(&kineto->row, 0);
	at = kineto_out_begin(&kineto->out, (size_t)name.bytes + attributes.bytes + ROW_BYTES);
	if (!at)
		return;
	at = is_mark ? KINETO_PUT(at, "{\"ph\":\"i\",\"s\":\"t\"")
		     : KINETO_PUT(at, "{\"ph\":\"X\"");
	at = KINETO_PUT(at, ",\"cat\":\"");
	at = kineto_put_z(at, kineto_scope_category(kineto, row));
	at = KINETO_PUT(at, "\",\"name\":");
	at = pieces_copy(at, &kineto->text, name);
	place = at;
	at = pieces_copy(at, &kineto->text, host->place);
	at = kineto_put_time(&kineto->out, at, time.begin_ns);
	place_bytes = (size_t)(at - place);
	if (!is_mark) {
		at = KINETO_PUT(at, ",\"dur\":");
		at = kineto_put_us(at, timeline_span_ns(time));
	}
	at = put_scope_args(kineto, at, scope, row);
	at = pieces_copy(at, &kineto->row, attributes);
	at = KINETO_PUT(at, "}},\n");
	kineto_out_end(&kineto->out, kineto_put_forward_arrow(kineto, at, row, place, place_bytes));
	kineto->row.used = 0;
}

/* ---- threads ---- */

static void put_thread(struct host *host, uint32_t thread, bool ranges)
{
	struct kineto *kineto = host->kineto;
	uint32_t process = timeline_thread_process(&kineto->timeline, thread);
	struct tracks tracks = timeline_thread_open(&kineto->timeline, thread, ranges, &host->nest);

	while (!kineto->out.error && tracks_begin(&tracks)) {
		uint64_t tid = kineto_name_thread(kineto, thread, ranges, tracks.number);
		size_t begin = kineto->text.used;

		kineto_text_put(&kineto->text, ",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64 ",\"ts\":",
				kineto_pid(kineto, process), tid);
		host->place = pieces_since(&kineto->text, begin);
		while (!kineto->out.error && tracks_next(&tracks)) {
			__builtin_prefetch(kineto_find_wait(kineto, tracks_call_ahead(&tracks)));
			if (tracks.table == TRACK_CALLS)
				put_call(host, tracks.row);
			else
				put_scope(host, tracks.row);
		}
	}
	kineto_fail(kineto, tracks.error);
}

void kineto_put_threads(struct kineto *kineto)
{
	const struct trace *trace = kineto->trace;
	struct host host = {
		.kineto = kineto,
		.trace = trace,
		.apis = calloc((size_t)trace->apis_count + 1, sizeof(*host.apis)),
	};

	if (!host.apis)
		kineto_fail(kineto, -ENOMEM);
	for (uint32_t i = 0; i < kineto->timeline.threads && !kineto->out.error; i++) {
		put_thread(&host, i, false);
		put_thread(&host, i, true);
	}
	free(host.apis);
	rows_nest_release(&host.nest);
}
