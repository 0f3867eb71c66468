/* The bed on the model device (bed.h): lazy streams and kernels that are C functions. */
#include <dagpatch/model.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bed.h"
#include "patch/model/model_parts.h"

static void check(int rc)
{
	if (rc < 0)
		abort();
}

/* ---- kernels ---- */

struct three_arguments {
	uint32_t *c;
	const uint32_t *a, *b;
	uint32_t n;
};

static uint32_t threads(const uint32_t grid[3], const uint32_t block[3], uint32_t n)
{
	uint32_t count = grid[0] * block[0];

	return count < n ? count : n;
}

static void add(const void *block, const uint32_t grid[3], const uint32_t size[3])
{
	const struct three_arguments *at = block;

	for (uint32_t i = 0; i < threads(grid, size, at->n); i++)
		at->c[i] = at->a[i] + at->b[i];
}

static void mul(const void *block, const uint32_t grid[3], const uint32_t size[3])
{
	const struct three_arguments *at = block;

	for (uint32_t i = 0; i < threads(grid, size, at->n); i++)
		at->c[i] = at->a[i] * at->b[i];
}

static void fold(const void *block, const uint32_t grid[3], const uint32_t size[3])
{
	const struct {
		uint64_t *out;
		const uint64_t *in;
		uint64_t scalar;
		uint32_t n;
	} *at = block;

	for (uint32_t i = 0; i < threads(grid, size, at->n); i++)
		at->out[i] = at->out[i] * 31 + at->in[i] + at->scalar;
}

static void mark(const void *block, const uint32_t grid[3], const uint32_t size[3])
{
	const struct {
		uint32_t *at;
		uint32_t value;
	} *mark = block;

	mark->at[0] += mark->value;
}

static void by_struct(const void *block, const uint32_t grid[3], const uint32_t size[3])
{
	const struct bed_struct *at = block;

	for (uint32_t i = 0; i < threads(grid, size, at->count); i++)
		at->dst[i] = at->src[i] + (uint32_t)at->scalar;
}

static void packed(const void *block, const uint32_t grid[3], const uint32_t size[3])
{
	const struct bed_packed *at = block;

	for (uint32_t i = 0; i < threads(grid, size, at->count); i++)
		at->dst[i] = at->src[i] + at->scalar;
}

static void hold(const void *block, const uint32_t grid[3], const uint32_t size[3])
{
	uint32_t *const *flag = block;

	while (__atomic_load_n(*flag, __ATOMIC_ACQUIRE) == 0)
		usleep(100);
}

static void count_down(const void *block, const uint32_t grid[3], const uint32_t size[3])
{
	const struct {
		int32_t *counter;
		uint32_t *sum;
		uint32_t value;
	} *at = block;

	at->sum[0] += at->value;
	at->counter[0]--;
}

#define POINTER DAGPATCH_PARAMETER_POINTER
#define VALUE	DAGPATCH_PARAMETER_VALUE
static const struct {
	const char *name;
	dagpatch_model_fn function;
	uint32_t count;
	struct dagpatch_parameter parameters[4];
} descriptions[BED_KERNELS] = {
	[BED_ADD] = {"add",
		     add,
		     4,
		     {{0, 8, POINTER}, {8, 8, POINTER}, {16, 8, POINTER}, {24, 4, VALUE}}},
	[BED_MUL] = {"mul",
		     mul,
		     4,
		     {{0, 8, POINTER}, {8, 8, POINTER}, {16, 8, POINTER}, {24, 4, VALUE}}},
	[BED_FOLD] = {"fold",
		      fold,
		      4,
		      {{0, 8, POINTER}, {8, 8, POINTER}, {16, 8, VALUE}, {24, 4, VALUE}}},
	[BED_MARK] = {"mark", mark, 2, {{0, 8, POINTER}, {8, 4, VALUE}}},
	[BED_STRUCT] = {"by_struct", by_struct, 1, {{0, sizeof(struct bed_struct), VALUE}}},
	[BED_PACKED] = {"packed", packed, 1, {{0, sizeof(struct bed_packed), VALUE}}},
	[BED_HOLD] = {"hold", hold, 1, {{0, 8, POINTER}}},
	[BED_COUNT_DOWN] = {"count_down",
			    count_down,
			    3,
			    {{0, 8, POINTER}, {8, 8, POINTER}, {16, 4, VALUE}}},
};

static struct dagpatch_model_kernel *kernels[BED_KERNELS];

static int open_bed(void)
{
	for (int i = 0; i < BED_KERNELS; i++) {
		check(dagpatch_model_kernel_create(descriptions[i].function,
						   descriptions[i].parameters,
						   descriptions[i].count, &kernels[i]));
		dagpatch_model_kernel_name(kernels[i], descriptions[i].name);
	}
	return 0;
}

static void close_bed(void)
{
	for (int i = 0; i < BED_KERNELS; i++)
		dagpatch_model_kernel_destroy(kernels[i]);
}

static uint32_t device_count(void)
{
	return DAGPATCH_MODEL_DEVICES;
}

static void device_set(uint32_t device)
{
	check(dagpatch_model_device_set(device));
}

static void *function(enum bed_kernel kernel)
{
	return kernels[kernel];
}

/* ---- memory and streams ---- */

static void *alloc(size_t bytes)
{
	void *address = dagpatch_model_alloc(bytes);

	check(address ? 0 : -1);
	return address;
}

static void copy_bytes(void *dst, const void *src, size_t bytes)
{
	memcpy(dst, src, bytes);
}

static void *stream_create(void)
{
	struct dagpatch_model_stream *stream;

	check(dagpatch_model_stream_create(DAGPATCH_MODEL_LAZY, &stream));
	return stream;
}

static void stream_destroy(void *stream)
{
	dagpatch_model_stream_destroy(stream);
}

static void stream_synchronize(void *stream)
{
	check(dagpatch_model_stream_synchronize(stream));
}

static int launch(void *stream, enum bed_kernel kernel, uint32_t grid, uint32_t block,
		  void *const *parameters)
{
	return dagpatch_model_launch(stream, kernels[kernel], (uint32_t[]){grid, 1, 1},
				     (uint32_t[]){block, 1, 1}, parameters);
}

static int launch_block(void *stream, enum bed_kernel kernel, uint32_t grid, uint32_t block,
			const void *arguments, size_t bytes)
{
	return dagpatch_model_launch_block(stream, kernels[kernel], (uint32_t[]){grid, 1, 1},
					   (uint32_t[]){block, 1, 1}, arguments, (uint32_t)bytes);
}

static int copy(void *stream, const struct bed_copy *given)
{
	return dagpatch_model_copy_async(stream, &(struct dagpatch_model_copy){
							 .dst = given->dst,
							 .src = given->src,
							 .dst_pitch = given->dst_pitch,
							 .dst_rows = given->dst_rows,
							 .src_pitch = given->src_pitch,
							 .src_rows = given->src_rows,
							 .width_bytes = given->width,
							 .height = given->height,
							 .depth = given->depth,
						 });
}

static int set_memory(void *stream, void *dst, uint32_t value, uint32_t element_bytes, size_t width)
{
	return dagpatch_model_memset_async(stream, dst, value, element_bytes, width);
}

static int host(void *stream, void (*callback)(void *user), void *user)
{
	return dagpatch_model_host_async(stream, callback, user);
}

/* ---- events and graphs ---- */

static void *event_create(void)
{
	struct dagpatch_model_event *event;

	check(dagpatch_model_event_create(&event));
	return event;
}

static void event_destroy(void *event)
{
	dagpatch_model_event_destroy(event);
}

static int event_record(void *stream, void *event)
{
	return dagpatch_model_event_record(stream, event, 0);
}

static int event_wait(void *stream, void *event)
{
	return dagpatch_model_event_wait(stream, event, 0);
}

static bool event_is_done(void *event)
{
	return dagpatch_model_event_count(event) > 0;
}

static void capture_begin(void *stream)
{
	check(dagpatch_model_capture_begin(stream));
}

static void *capture_end(void *stream)
{
	struct dagpatch_model_graph *graph;

	check(dagpatch_model_capture_end(stream, &graph));
	return graph;
}

static void graph_destroy(void *graph)
{
	dagpatch_model_graph_destroy(graph);
}

static int graph_launch(void *stream, void *graph)
{
	return dagpatch_model_graph_launch(stream, graph);
}

static void *instantiate(void *graph)
{
	struct dagpatch_model_exec *exec;

	check(dagpatch_model_instantiate(graph, &exec));
	return exec;
}

static void exec_destroy(void *exec)
{
	dagpatch_model_exec_destroy(exec);
}

static void exec_launch(void *exec, void *stream)
{
	check(dagpatch_model_exec_launch(exec, stream));
}

static void attributes_get(void *node, struct dagpatch_attributes *ret_attributes)
{
	*ret_attributes = ((const struct model_node *)node)->attributes;
}

static void attributes_set(void *node, const struct dagpatch_attributes *attributes)
{
	((struct model_node *)node)->attributes = *attributes;
}

static void *graph_node(void *graph, uint32_t index)
{
	return ((struct dagpatch_model_graph *)graph)->nodes[index];
}

static int by_priorities(void *exec)
{
	return ((const struct dagpatch_model_exec *)exec)->by_priorities;
}

static void *stream_with_priority(int priority)
{
	void *stream = stream_create();

	model_stream_prioritise(stream, priority);
	return stream;
}

const struct bed bed_model = {
	.driver = "model",
	.reads_execs = true,
	.open = open_bed,
	.close = close_bed,
	.device_count = device_count,
	.device_set = device_set,
	.device_current = dagpatch_model_device,
	.alloc = alloc,
	.free = dagpatch_model_free,
	.alloc_host = alloc,
	.free_host = dagpatch_model_free,
	.write = copy_bytes,
	.read = copy_bytes,
	.stream_create = stream_create,
	.stream_destroy = stream_destroy,
	.stream_synchronize = stream_synchronize,
	.function = function,
	.launch = launch,
	.launch_block = launch_block,
	.copy = copy,
	.memset = set_memory,
	.host = host,
	.event_create = event_create,
	.event_destroy = event_destroy,
	.event_record = event_record,
	.event_wait = event_wait,
	.event_is_done = event_is_done,
	.capture_begin = capture_begin,
	.capture_end = capture_end,
	.graph_destroy = graph_destroy,
	.graph_launch = graph_launch,
	.instantiate = instantiate,
	.exec_destroy = exec_destroy,
	.exec_launch = exec_launch,
	.sets_functions = true,
	.attributes =
		DAGPATCH_PRIORITY | DAGPATCH_COOPERATIVE | DAGPATCH_CLUSTER | DAGPATCH_PROGRAMMATIC,
	.attributes_get = attributes_get,
	.attributes_set = attributes_set,
	.graph_node = graph_node,
	.by_priorities = by_priorities,
	.stream_with_priority = stream_with_priority,
};
