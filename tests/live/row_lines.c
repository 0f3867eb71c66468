/* Rows as text: see row_lines.h. */
#include "row_lines.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/table.h"

static void put(struct rows *rows, char *line)
{
	char **place = table_add((void **)&rows->lines, &rows->count, sizeof(*place));

	assert_non_null(place);
	assert_non_null(line);
	*place = line;
}

static void put_thread(FILE *to, const struct trace *trace, uint32_t thread)
{
	if (thread != TRACE_NONE)
		fprintf(to, " tid=%u(%s)", trace->threads[thread].tid,
			trace_text(trace, trace->threads[thread].name));
}

static void put_scopes(FILE *to, const struct trace *trace, uint32_t scope)
{
	for (; scope != TRACE_NONE; scope = trace->scopes[scope].parent)
		fprintf(to, " scope=%" PRIx64 "(%s,%d,%" PRId64 ")", trace->scopes[scope].id,
			trace_text(trace, trace->scopes[scope].text), trace->scopes[scope].kind,
			trace->scopes[scope].begin_ns);
}

static void put_stream(FILE *to, const struct trace *trace, uint32_t stream)
{
	if (stream != TRACE_NONE)
		fprintf(to, " stream=%" PRIx64, trace->streams[stream].handle);
}

static void put_call(FILE *to, const struct trace *trace, const struct trace_call *call)
{
	const struct trace_api *api = &trace->apis[call->api];

	fprintf(to, "call %" PRIu64 " %s %" PRId64 "-%" PRId64 " result=%d activities=%u/%u",
		call->cid, trace_text(trace, api->name), call->begin_ns, call->end_ns, call->result,
		call->activity_count, call->activities_expected);
	if (call->parent != TRACE_NONE)
		fprintf(to, " in %" PRIu64, trace->calls[call->parent].cid);
	put_thread(to, trace, call->thread);
	put_scopes(to, trace, call->scope);
	put_stream(to, trace, call->stream);
	for (uint32_t i = 0; call->arg_first != TRACE_NONE && i < api->arg_words; i++)
		fprintf(to, " %" PRIx64, trace->words[call->arg_first + i]);
}

/* What a graph's node tells of an activity is left out. */
static void put_work(FILE *to, const struct trace *trace, const struct trace_activity *activity)
{
	const struct trace_work *work = trace_work_of(trace, activity);

	fprintf(to, " kind=%d blit=%d grid=%" PRIu64 ",%" PRIu64 ",%" PRIu64 " group=%u,%u,%u",
		work->kind, work->blit, work->grid[0], work->grid[1], work->grid[2],
		work->workgroup[0], work->workgroup[1], work->workgroup[2]);
	fprintf(to, " lds=%u scratch=%u registers=%u", work->group_bytes, work->private_bytes,
		work->registers);
	if (activity->launch != TRACE_NONE && work->blit)
		return;
	fprintf(to, " %s bytes=%" PRIu64 " direction=%d %" PRIx64 " to %" PRIx64,
		trace_text(trace, work->name), work->bytes, work->direction, work->src, work->dst);
}

static void put_node(FILE *to, const struct trace *trace, const struct trace_activity *activity)
{
	const struct trace_node *node;

	fprintf(to, " confidence=%d", activity->confidence);
	if (activity->node == TRACE_NONE)
		return;
	node = &trace->nodes[activity->node];
	fprintf(to, " node=%" PRIu64 ".%u(%s)", trace->graphs[node->graph].id, node->index,
		trace_text(trace, node->name));
}

/* A window of CUDA may lack the call of an activity, and other activities of the call. */
static void put_cuda_activity(FILE *to, const struct trace *trace,
			      const struct trace_activity *activity, bool has_node)
{
	fprintf(to, "activity of %" PRIu64 " %" PRId64 "-%" PRId64 " untimed=%d", activity->cid,
		activity->start_ns, activity->end_ns, activity->untimed);
	if (activity->agent != TRACE_NONE)
		fprintf(to, " agent=%u", trace->agents[activity->agent].index);
	put_stream(to, trace, activity->stream);
	put_work(to, trace, activity);
	if (has_node && activity->node != TRACE_NONE)
		fprintf(to, " node=%" PRIu64 ".%u",
			trace->graphs[trace->nodes[activity->node].graph].id,
			trace->nodes[activity->node].index);
}

static void put_activity(FILE *to, const struct trace *trace, uint32_t number, bool has_node)
{
	const struct trace_activity *activity = &trace->activities[number];

	fprintf(to, "activity of %" PRIu64 ".%u id=%" PRIu64, activity->cid, activity->ordinal,
		activity->id);
	fprintf(to, " call=%d submit=%" PRId64 " %" PRId64 "-%" PRId64 " untimed=%d",
		activity->call != TRACE_NONE, activity->submit_ns, activity->start_ns,
		activity->end_ns, activity->untimed);
	if (trace->ticks)
		fprintf(to, " ticks=%" PRIu64 "-%" PRIu64, trace->ticks[number].start,
			trace->ticks[number].end);
	if (activity->queue != TRACE_NONE)
		fprintf(to, " queue=%u", trace->queues[activity->queue].id);
	if (activity->agent != TRACE_NONE)
		fprintf(to, " agent=%u", trace->agents[activity->agent].index);
	put_thread(to, trace, activity->thread);
	put_scopes(to, trace, activity->scope);
	put_stream(to, trace, activity->stream);
	put_work(to, trace, activity);
	if (activity->launch != TRACE_NONE)
		fprintf(to, " launch=%" PRIu64 " of %" PRIu64,
			trace->launches[activity->launch].replay,
			trace->execs[trace->launches[activity->launch].exec].id);
	if (has_node)
		put_node(to, trace, activity);
}

static void put_memory(FILE *to, const struct trace *trace,
		       const struct trace_memory_operation *row)
{
	fprintf(to, "memory of %" PRIu64 " %" PRIx64 " %" PRIu64 " %" PRId64 " %d %d %d", row->cid,
		row->address, row->bytes, row->ns, row->result, row->kind, row->is_release);
	if (row->agent != TRACE_NONE)
		fprintf(to, " agent=%u", trace->agents[row->agent].index);
	put_scopes(to, trace, row->scope);
}

void rows_add(struct rows *rows, const struct trace *trace)
{
	uint32_t total =
		trace->calls_count + trace->activities_count + trace->memory_operations_count;

	for (uint32_t i = 0; i < total; i++) {
		bool is_activity =
			i >= trace->calls_count && i < trace->calls_count + trace->activities_count;
		uint32_t memory = i - trace->calls_count - trace->activities_count;
		char *line = NULL;
		size_t bytes;
		FILE *to;

		if (rows->is_cuda && !is_activity)
			continue;
		to = open_memstream(&line, &bytes);
		assert_non_null(to);
		if (rows->is_cuda)
			put_cuda_activity(to, trace, &trace->activities[i - trace->calls_count],
					  rows->has_nodes);
		else if (i < trace->calls_count)
			put_call(to, trace, &trace->calls[i]);
		else if (is_activity)
			put_activity(to, trace, i - trace->calls_count, rows->has_nodes);
		else
			put_memory(to, trace, &trace->memory_operations[memory]);
		fclose(to);
		put(rows, line);
	}
}

static int by_text(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

void rows_assert_same(struct rows *left, struct rows *right)
{
	uint32_t i = 0;

	if (left->count)
		qsort(left->lines, left->count, sizeof(*left->lines), by_text);
	if (right->count)
		qsort(right->lines, right->count, sizeof(*right->lines), by_text);
	while (i < left->count && i < right->count && !strcmp(left->lines[i], right->lines[i]))
		i++;
	if (i < left->count || i < right->count)
		print_error("row %u of %u and %u:\n%s\n%s\n", i, left->count, right->count,
			    i < left->count ? left->lines[i] : "(none)",
			    i < right->count ? right->lines[i] : "(none)");
	assert_int_equal(i, left->count);
	assert_int_equal(i, right->count);
}

void rows_release(struct rows *rows)
{
	for (uint32_t i = 0; i < rows->count; i++)
		free(rows->lines[i]);
	free(rows->lines);
	*rows = (struct rows){0};
}
