/* Measures what a graph with the table of addresses costs on this GPU compared to one without: a
 * chain of kernels that do nothing is built with and without the table and replayed alternately;
 * each replay is waited for. What the host has set reaches the device with the next launch, so that
 * launch belongs to the cost of setting. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "patch/cuda/cuda_driver.h"
#include "patch/cuda/cuda_kernels.h"

enum { NODES = 32, ROUNDS = 15, WARM_UPS = 3, CELL_BYTES = 256 };
enum { PLAIN, IDLE, CHANGED, SETS, SAMPLES };

struct chain {
	struct driver_graph *graph;
	struct driver_exec *exec;
	struct driver_table *table;
	struct driver_node *nodes[NODES];
};

struct measuring {
	struct cuda_driver *cuda;
	cuda_stream stream;
	void *cells; /* memory for two addresses that the kernels get; never accessed */
	void *function;
	const struct patch_layout *layout;
	struct chain plain, patched;
	double build_ns; /* time to build the plain chain, when the driver has built one before */
	double samples[SAMPLES][ROUNDS];
};

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(double *samples)
{
	qsort(samples, ROUNDS, sizeof(*samples), ascending);
	return samples[ROUNDS / 2];
}

static double above(double time, double floor)
{
	return time > floor ? time - floor : 0;
}

/* ---- the chains ---- */

union image {
	struct patch_kernel kernel;
	uint8_t bytes[sizeof(struct patch_kernel) + sizeof(uint64_t)];
};

static struct patch_params node_at(const struct measuring *measuring, uint32_t cell,
				   union image *image)
{
	uint64_t address = (uintptr_t)measuring->cells + (uint64_t)cell * CELL_BYTES;

	image->kernel = (struct patch_kernel){.function = measuring->function,
					      .grid = {1, 1, 1},
					      .block = {1, 1, 1},
					      .argument_bytes = sizeof(address)};
	memcpy(image->bytes + sizeof(struct patch_kernel), &address, sizeof(address));
	return (struct patch_params){
		.kind = PATCH_KERNEL,
		.size = sizeof(*image),
		.image = image,
		.layout = measuring->layout,
	};
}

static int add_nodes(struct measuring *measuring, struct chain *chain)
{
	struct patch_device *device = &measuring->cuda->base;
	union image image;
	struct patch_params params = node_at(measuring, 0, &image);
	int err = device->driver->graph_create(device, &chain->graph);

	for (uint32_t i = 0; err == 0 && i < NODES; i++)
		err = device->driver->node_add(device, chain->graph, &params,
					       i ? &chain->nodes[i - 1] : NULL, i > 0,
					       &chain->nodes[i]);
	return err;
}

static int make_plain(struct measuring *measuring)
{
	struct patch_device *device = &measuring->cuda->base;
	double begin = now_ns();
	int err = add_nodes(measuring, &measuring->plain);

	if (err == 0)
		err = device->driver->instantiate(device, measuring->plain.graph, false,
						  &measuring->plain.exec);
	measuring->build_ns = now_ns() - begin;
	return err;
}

static int make_patched(struct measuring *measuring)
{
	struct patch_device *device = &measuring->cuda->base;
	struct chain *chain = &measuring->patched;
	struct patch_table_relocation relocations[NODES];
	const struct patch_table_plan plan = {relocations, NODES, 1};
	int err = add_nodes(measuring, chain);

	for (uint32_t i = 0; i < NODES; i++)
		relocations[i] = (struct patch_table_relocation){.node = chain->nodes[i]};
	if (err == 0)
		err = device->driver->table_create(device, chain->graph, &plan, &chain->table);
	if (err == 0)
		err = device->driver->instantiate(device, chain->graph, false, &chain->exec);
	return err < 0 ? err : device->driver->table_attach(device, chain->table, chain->exec);
}

static void drop(struct measuring *measuring, struct chain *chain)
{
	struct patch_device *device = &measuring->cuda->base;

	if (chain->exec)
		device->driver->exec_destroy(device, chain->exec);
	if (chain->table)
		device->driver->table_destroy(device, chain->table);
	if (chain->graph)
		device->driver->graph_destroy(device, chain->graph);
	*chain = (struct chain){0};
}

/* ---- rounds ---- */

static int bind(struct measuring *measuring, uint32_t cell)
{
	struct patch_device *device = &measuring->cuda->base;
	const uint32_t slot = 0;
	uint64_t address = (uintptr_t)measuring->cells + (uint64_t)cell * CELL_BYTES;

	return device->driver->table_bind(device, measuring->patched.table, &slot, &address, 1);
}

static int set_all(struct measuring *measuring, uint32_t cell)
{
	struct patch_device *device = &measuring->cuda->base;
	const struct chain *chain = &measuring->plain;
	union image image;
	struct patch_params params = node_at(measuring, cell, &image);
	int err = 0;

	for (uint32_t i = 0; err == 0 && i < NODES; i++)
		err = device->driver->exec_set(device, chain->exec, chain->nodes[i], &params);
	return err;
}

static int replay(struct measuring *measuring, const struct chain *chain)
{
	struct patch_device *device = &measuring->cuda->base;
	int err = device->driver->launch(device, chain->exec, chain->table,
					 (struct driver_stream *)measuring->stream);

	return err < 0 ? err
		       : CUDA_RELAXED(measuring->cuda, cuStreamSynchronize, measuring->stream);
}

static int run_sample(struct measuring *measuring, uint32_t kind, uint32_t cell)
{
	int err;

	switch (kind) {
	case PLAIN:
		return replay(measuring, &measuring->plain);
	case SETS:
		err = set_all(measuring, cell);
		return err < 0 ? err : replay(measuring, &measuring->plain);
	case CHANGED:
		err = bind(measuring, cell);
		return err < 0 ? err : replay(measuring, &measuring->patched);
	default:
		return replay(measuring, &measuring->patched);
	}
}

static int run_rounds(struct measuring *measuring)
{
	int err = 0;

	for (uint32_t i = 0; err == 0 && i < WARM_UPS + ROUNDS; i++) {
		for (uint32_t kind = 0; err == 0 && kind < SAMPLES; kind++) {
			double begin = now_ns();

			err = run_sample(measuring, kind, (i + 1) % 2);
			if (i >= WARM_UPS)
				measuring->samples[kind][i - WARM_UPS] = now_ns() - begin;
		}
	}
	return err;
}

static int prepare(struct measuring *measuring)
{
	struct cuda_driver *cuda = measuring->cuda;
	struct patch_device *device = &cuda->base;
	int err = cuda_kernel_find(cuda, NOTHING_KERNEL, (cuda_function *)&measuring->function);

	if (err == 0)
		err = CUDA_CALL(cuda, cuStreamCreate, &measuring->stream, CUDA_STREAM_NON_BLOCKING);
	if (err == 0)
		err = device->driver->memory_alloc(device, 2 * CELL_BYTES, false,
						   &measuring->cells);
	if (err < 0)
		return err;
	err = patch_layout_find(device, measuring->function, &measuring->layout);
	if (err < 0)
		return err;
	if (measuring->layout->bytes != sizeof(uint64_t))
		return patch_fault(-EIO, "cuFuncGetParamInfo", 0, "another kernel's parameters");
	/* The first graph of a process takes longer than any later one. */
	err = make_plain(measuring);
	drop(measuring, &measuring->plain);
	if (err == 0)
		err = make_plain(measuring);
	return err < 0 ? err : make_patched(measuring);
}

int cuda_measure(struct patch_device *device, struct patch_costs *ret_costs)
{
	struct measuring measuring = {.cuda = cuda_of(device)};
	double medians[SAMPLES];
	int err = prepare(&measuring);

	if (err == 0)
		err = run_rounds(&measuring);
	drop(&measuring, &measuring.patched);
	drop(&measuring, &measuring.plain);
	if (measuring.cells)
		device->driver->memory_free(device, measuring.cells, false);
	if (measuring.stream)
		measuring.cuda->call.cuStreamDestroy_v2(measuring.stream);
	if (err < 0)
		return err;
	for (uint32_t kind = 0; kind < SAMPLES; kind++)
		medians[kind] = median(measuring.samples[kind]);
	*ret_costs = (struct patch_costs){
		.set = above(medians[SETS], medians[PLAIN]) / NODES,
		.idle = above(medians[IDLE], medians[PLAIN]),
		.change = above(medians[CHANGED], medians[IDLE]),
		.build = measuring.build_ns / NODES,
	};
	return 0;
}
