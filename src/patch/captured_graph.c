/* Graphs that were captured at certain addresses, and their nodes as recordings. */
#include <stdlib.h>

#include "patch/captured_graph.h"
#include "patch/context.h"
#include "patch/recording.h"

struct dagpatch_recording *captured_content_create(struct dagpatch_context *context)
{
	struct dagpatch_recording *content = calloc(1, sizeof(*content));

	if (!content)
		return NULL;
	content->context = context;
	content->device = context->device;
	content->flags = DAGPATCH_NESTED;
	return content;
}

void captured_content_destroy(struct dagpatch_recording *content)
{
	if (!content)
		return;
	free(content->nodes);
	free(content->images);
	free(content->after_end);
	free(content->after);
	free(content);
}

void captured_graph_release(struct captured_graph *graph)
{
	if (!graph || --graph->references > 0)
		return;
	captured_content_destroy(graph->content);
	graph->device->driver->graph_destroy(graph->device, graph->graph);
	free(graph);
}
