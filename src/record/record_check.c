/* The least size of each record type, and where it has its host times and the length of its text. A
 * new type needs an entry in record_shapes[]. */
#include "record/record_check.h"

#include <stddef.h>
#include <string.h>

#include "record/attribute.h"

/* Of a record: words of its begin and its end, or twice of its one host time. */
#define SPAN(tag, begin, end) offsetof(struct tag, begin) / 8, offsetof(struct tag, end) / 8
#define TIME(tag, ns)	      SPAN(tag, ns, ns)
#define NO_TIME		      header /* in the place of a field: its word is 0 */

#define SHAPE(id, tag, ns)                                                                         \
	[RECORD_##id] = {sizeof(struct tag), RECORD_TEXT_NONE, 0, 0, TIME(tag, ns)}
#define TAGGED(id, tag, ns)                                                                        \
	[RECORD_##id] = {sizeof(struct tag), RECORD_TEXT_IN_TAG, 0, 0, TIME(tag, ns)}
#define FIELD(id, tag, ns, field)                                                                  \
	[RECORD_##id] = {sizeof(struct tag), RECORD_TEXT_IN_FIELD,                                 \
			 sizeof(((struct tag *)0)->field), offsetof(struct tag, field),            \
			 TIME(tag, ns)}

const struct record_shape record_shapes[RECORD_TYPE_COUNT] = {
	SHAPE(THREAD, record_thread, ns),
	[RECORD_AGENT] = {RECORD_AGENT_LEAST, RECORD_TEXT_NONE, 0, 0, 0, 0},
	FIELD(KERNEL, record_kernel, ns, name_bytes),
	SHAPE(KERNEL_GONE, record_kernel_gone, ns),
	TAGGED(FUNCTION, record_function, ns),
	SHAPE(QUEUE, record_queue, ns),
	SHAPE(QUEUE_COUNT, record_queue_count, ns),
	SHAPE(DISPATCH, record_dispatch, ns),
	SHAPE(DISPATCH_DONE, record_dispatch_done, NO_TIME),
	SHAPE(BARRIER, record_barrier, ns),
	SHAPE(COPY, record_copy, ns),
	SHAPE(COPY_DONE, record_copy_done, NO_TIME),
	FIELD(API_NAME, record_api_name, NO_TIME, text_bytes),
	[RECORD_API] = {sizeof(struct record_api), RECORD_TEXT_NONE, 0, 0,
			SPAN(record_api, begin_ns, end_ns)},
	FIELD(SCOPE, record_scope, ns, text_bytes),
	SHAPE(SCOPE_END, record_scope_end, ns),
	SHAPE(GRAPH, record_graph, ns),
	SHAPE(GRAPH_NODE, record_graph_node, ns),
	SHAPE(GRAPH_EDGE, record_graph_edge, NO_TIME),
	SHAPE(GRAPH_EXEC, record_graph_exec, ns),
	SHAPE(GRAPH_EXEC_UPDATE, record_graph_node, ns),
	SHAPE(GRAPH_EXEC_GONE, record_graph_exec_gone, ns),
	SHAPE(GRAPH_LAUNCH, record_graph_launch, NO_TIME),
	SHAPE(NODE_RECORDED, record_node_recorded, ns),
	SHAPE(ANCHOR, record_anchor, host_ns),
	SHAPE(WITNESS, record_witness, ns),
	FIELD(SOURCE, record_source, ns, text_bytes),
	TAGGED(NOTE, record_note, ns),
	SHAPE(END, record_end, ns),
	SHAPE(CUDA_KERNEL, record_cuda_kernel, NO_TIME),
	SHAPE(CUDA_COPY, record_cuda_copy, NO_TIME),
	SHAPE(CUDA_SYNC, record_cuda_sync, NO_TIME),
	SHAPE(CUDA_EVENT, record_cuda_event, NO_TIME),
	SHAPE(CUDA_MEMORY, record_cuda_memory, NO_TIME),
	SHAPE(CUDA_OVERHEAD, record_cuda_overhead, NO_TIME),
	SHAPE(CUDA_GRAPH, record_cuda_graph, ns),
	SHAPE(CUDA_INNER, record_cuda_inner, NO_TIME),
	SHAPE(CUDA_STREAM, record_cuda_stream, NO_TIME),
	SHAPE(CUDA_UPDATE, record_cuda_update, ns),
	SHAPE(QUEUE_TAKEN, record_queue_taken, ns),
	SHAPE(FAULT, record_fault, ns),
	SHAPE(CUDA_STREAM_HANDLE, record_cuda_stream_handle, ns),
	SHAPE(MEMORY, record_memory, ns),
	FIELD(SCOPE_BODY, record_scope, NO_TIME, text_bytes),
};

static uint64_t text_bytes(const struct record_header *header, const struct record_shape *shape)
{
	uint64_t bytes = 0;

	if (shape->text == RECORD_TEXT_IN_TAG)
		return header->tag;
	if (shape->text == RECORD_TEXT_IN_FIELD)
		memcpy(&bytes, (const char *)header + shape->field_at, shape->field_bytes);
	return bytes;
}

const char *record_find_fault(const struct record_header *header, uint32_t room)
{
	uint32_t bytes = header->words * 8u;
	const struct record_shape *shape;

	if (bytes < sizeof(*header))
		return "record has no size";
	if (bytes > room)
		return "record runs past the end of its chunk";
	if (header->type >= RECORD_TYPE_COUNT)
		return NULL;
	shape = &record_shapes[header->type];
	if (bytes < shape->least_bytes)
		return "record is too short for its type";
	if (text_bytes(header, shape) > bytes - shape->least_bytes)
		return "text runs past the end of its record";
	if ((header->type == RECORD_SCOPE || header->type == RECORD_SCOPE_BODY) &&
	    !record_attributes_fit((const struct record_scope *)header))
		return "attributes run past the end of their record";
	return NULL;
}
