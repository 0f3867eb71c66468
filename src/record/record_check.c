/* The least size of each record type, and where it has the length of its text. A new type needs an
 * entry in record_shapes[]. */
#include "record/record_check.h"

#include <stddef.h>
#include <string.h>

#include "record/attribute.h"

#define SHAPE(id, tag)	[RECORD_##id] = {sizeof(struct tag), RECORD_TEXT_NONE, 0, 0}
#define TAGGED(id, tag) [RECORD_##id] = {sizeof(struct tag), RECORD_TEXT_IN_TAG, 0, 0}
#define FIELD(id, tag, field)                                                                      \
	[RECORD_##id] = {sizeof(struct tag), RECORD_TEXT_IN_FIELD,                                 \
			 sizeof(((struct tag *)0)->field), offsetof(struct tag, field)}

const struct record_shape record_shapes[RECORD_TYPE_COUNT] = {
	SHAPE(THREAD, record_thread),
	[RECORD_AGENT] = {RECORD_AGENT_LEAST, RECORD_TEXT_NONE, 0, 0},
	FIELD(KERNEL, record_kernel, name_bytes),
	SHAPE(KERNEL_GONE, record_kernel_gone),
	TAGGED(FUNCTION, record_function),
	SHAPE(QUEUE, record_queue),
	SHAPE(QUEUE_COUNT, record_queue_count),
	SHAPE(DISPATCH, record_dispatch),
	SHAPE(DISPATCH_DONE, record_dispatch_done),
	SHAPE(BARRIER, record_barrier),
	SHAPE(COPY, record_copy),
	SHAPE(COPY_DONE, record_copy_done),
	FIELD(API_NAME, record_api_name, text_bytes),
	SHAPE(API, record_api),
	FIELD(SCOPE, record_scope, text_bytes),
	SHAPE(SCOPE_END, record_scope_end),
	SHAPE(GRAPH, record_graph),
	SHAPE(GRAPH_NODE, record_graph_node),
	SHAPE(GRAPH_EDGE, record_graph_edge),
	SHAPE(GRAPH_EXEC, record_graph_exec),
	SHAPE(GRAPH_EXEC_UPDATE, record_graph_node),
	SHAPE(GRAPH_EXEC_GONE, record_graph_exec_gone),
	SHAPE(GRAPH_LAUNCH, record_graph_launch),
	SHAPE(NODE_RECORDED, record_node_recorded),
	SHAPE(ANCHOR, record_anchor),
	SHAPE(WITNESS, record_witness),
	FIELD(SOURCE, record_source, text_bytes),
	TAGGED(NOTE, record_note),
	SHAPE(END, record_end),
	SHAPE(CUDA_KERNEL, record_cuda_kernel),
	SHAPE(CUDA_COPY, record_cuda_copy),
	SHAPE(CUDA_SYNC, record_cuda_sync),
	SHAPE(CUDA_EVENT, record_cuda_event),
	SHAPE(CUDA_MEMORY, record_cuda_memory),
	SHAPE(CUDA_OVERHEAD, record_cuda_overhead),
	SHAPE(CUDA_GRAPH, record_cuda_graph),
	SHAPE(CUDA_INNER, record_cuda_inner),
	SHAPE(CUDA_STREAM, record_cuda_stream),
	SHAPE(CUDA_UPDATE, record_cuda_update),
	SHAPE(QUEUE_TAKEN, record_queue_taken),
	SHAPE(FAULT, record_fault),
	SHAPE(CUDA_STREAM_HANDLE, record_cuda_stream_handle),
	SHAPE(MEMORY, record_memory),
	FIELD(SCOPE_BODY, record_scope, text_bytes),
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
