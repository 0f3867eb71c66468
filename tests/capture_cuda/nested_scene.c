/* Nested graphs: see nested_scene.h. */
#include "nested_scene.h"

static uint64_t last_start;

/* Activities follow each other; each lasts 100 ns. */
static uint64_t next_start(void)
{
	uint64_t now = model_now();

	last_start = now > last_start + 1000 ? now : last_start + 1000;
	return last_start;
}

void nested_await(void)
{
	while (model_now() < last_start + 100)
		;
}

void nested_put_kernel(uint32_t correlation, uint64_t node, const char *name)
{
	struct cupti_kernel kernel = play_kernel(correlation, name);

	kernel.graphId = (uint32_t)(node >> 32);
	kernel.graphNodeId = node;
	kernel.streamId = correlation ? STREAM : BODY_STREAM;
	kernel.start = next_start();
	kernel.end = kernel.start + 100;
	PLAY_PUT(kernel);
}

void nested_instantiate(uint32_t count)
{
	play_graph(EXEC);
	for (uint32_t i = 0; i < count; i++)
		play_node_clone(EXEC, NODE(EXEC, i), NODE(TOP, i), CUDA_NODE_KERNEL);
	play_exec(EXEC, TOP);
}

void nested_put_copy(uint32_t correlation, uint64_t node)
{
	struct cupti_memcpy copy = play_copy(correlation, 1024);

	copy.graphId = (uint32_t)(node >> 32);
	copy.graphNodeId = node;
	copy.streamId = correlation ? STREAM : BODY_STREAM;
	copy.start = next_start();
	copy.end = copy.start + 100;
	PLAY_PUT(copy);
}
