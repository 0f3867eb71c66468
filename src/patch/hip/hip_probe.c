/* Tests which calls of this HIP really change an executable graph, because releases have returned
 * success for updates that did nothing. A context runs small nodes between buffers of its own: a
 * memset, copies of one and of two dimensions and, where hiprtc can compile it, a kernel. It moves
 * them by each call in turn, gives the kernel another function in between, and looks at what they
 * wrote. */
#include <errno.h>
#include <string.h>

#include "patch/hip/hip_driver.h"

enum { CELL = 256, BYTES = 64, SOURCE = 0, MARK = 0xa5, PATTERN = 0x5a };
enum { MEMSET, COPY_1D, COPY_2D, KERNEL, NODES };
enum { BASE, SET, OTHER, UPDATE, ROWS }; /* rows of cells, one for each call */
enum { CELLS = 1 + ROWS * NODES };

struct probe {
	struct hip_driver *hip;
	void *stream, *graph, *exec;
	struct driver_node *nodes[NODES];
	uint32_t count; /* of NODES: KERNEL if there is no kernel */
	void *module, *kernel, *other;
	uint8_t *device;
	uint8_t host[CELLS * CELL];
};

/* ---- cells ---- */

static uint32_t cell_of(uint32_t row, uint32_t node)
{
	return 1 + row * NODES + node;
}

static uint64_t cell_address(const struct probe *probe, uint32_t cell)
{
	return (uintptr_t)probe->device + (uint64_t)cell * CELL;
}

/* Writes the pattern into the source and clears all other cells. */
static int reset_cells(struct probe *probe)
{
	struct hip_driver *hip = probe->hip;
	int err;

	memset(probe->host, 0, sizeof(probe->host));
	memset(probe->host + SOURCE * CELL, PATTERN, CELL);
	err = HIP_CALL(hip, hipMemcpyAsync, probe->device, probe->host, sizeof(probe->host),
		       HIP_COPY_HOST_TO_DEVICE, probe->stream);
	return err < 0 ? err : HIP_CALL(hip, hipStreamSynchronize, probe->stream);
}

static int run(struct probe *probe)
{
	struct hip_driver *hip = probe->hip;
	int err = HIP_CALL(hip, hipGraphLaunch, probe->exec, probe->stream);

	if (err == 0)
		err = HIP_CALL(hip, hipMemcpyAsync, probe->host, probe->device, sizeof(probe->host),
			       HIP_COPY_DEVICE_TO_HOST, probe->stream);
	if (err == 0)
		err = HIP_CALL(hip, hipStreamSynchronize, probe->stream);
	return err;
}

/* Returns whether NODE wrote everything that it should into its cell of ROW in the last run, and
 * nothing into its other cells. */
static bool wrote_in(const struct probe *probe, uint32_t row, uint32_t node)
{
	uint8_t expected[CELL] = {0};
	static const uint8_t clear[CELL];

	if (node == COPY_2D) {
		memset(expected, PATTERN, BYTES / 4);
		memset(expected + BYTES / 2, PATTERN, BYTES / 4);
	} else {
		memset(expected, node == MEMSET || node == KERNEL ? MARK : PATTERN,
		       node == KERNEL ? 4 : BYTES);
	}
	for (uint32_t i = 0; i < ROWS; i++)
		if (memcmp(probe->host + (size_t)cell_of(i, node) * CELL,
			   i == row ? expected : clear, CELL) != 0)
			return false;
	return true;
}

/* ---- nodes ---- */

union node_image {
	struct patch_memset memset;
	struct patch_copy copy;
	struct patch_kernel kernel;
	uint8_t bytes[sizeof(struct patch_kernel) + 24];
};

static const struct patch_layout kernel_layout = {
	.count = 2,
	.bytes = 12,
	.is_known = true,
	.parameters = {{0, 8, DAGPATCH_PARAMETER_POINTER}, {8, 4, DAGPATCH_PARAMETER_VALUE}},
};

/* The other function has more arguments, because a release wrote them into the memory of the first
 * function's arguments. */
static const struct patch_layout other_layout = {
	.count = 3,
	.bytes = 20,
	.is_known = true,
	.parameters = {{0, 4, DAGPATCH_PARAMETER_VALUE},
		       {8, 8, DAGPATCH_PARAMETER_POINTER},
		       {16, 4, DAGPATCH_PARAMETER_VALUE}},
};

static struct patch_params kernel_at(const struct probe *probe, uint64_t address, bool is_other,
				     union node_image *image)
{
	const struct patch_layout *layout = is_other ? &other_layout : &kernel_layout;
	const uint32_t value = MARK * 0x01010101u;
	uint8_t *arguments = image->bytes + sizeof(struct patch_kernel);

	image->kernel = (struct patch_kernel){
		.function = is_other ? probe->other : probe->kernel,
		.grid = {1, 1, 1},
		.block = {1, 1, 1},
		.argument_bytes = (uint16_t)layout->bytes,
	};
	memcpy(arguments + (is_other ? 8 : 0), &address, sizeof(address));
	memcpy(arguments + (is_other ? 16 : 8), &value, sizeof(value));
	return (struct patch_params){
		.kind = PATCH_KERNEL,
		.size = (uint32_t)sizeof(struct patch_kernel) + layout->bytes,
		.image = image,
		.layout = layout,
	};
}

static struct patch_params node_in(const struct probe *probe, uint32_t row, uint32_t node,
				   union node_image *image)
{
	uint64_t address = cell_address(probe, cell_of(row, node));
	const struct patch_end end = {
		.pitch = node == COPY_2D ? BYTES / 2 : BYTES,
		.rows = node == COPY_2D ? 2 : 1,
		.memory = PATCH_DEVICE_MEMORY,
	};

	memset(image, 0, sizeof(*image));
	if (node == KERNEL)
		return kernel_at(probe, address, row == OTHER, image);
	if (node == MEMSET) {
		image->memset = (struct patch_memset){.address = address,
						      .width = BYTES / 4,
						      .height = 1,
						      .value = MARK * 0x01010101u,
						      .element_bytes = 4};
		return (struct patch_params){
			.kind = PATCH_MEMSET, .size = sizeof(image->memset), .image = image};
	}
	image->copy = (struct patch_copy){
		.dst_address = address,
		.src_address = cell_address(probe, SOURCE),
		.dst = end,
		.src = end,
		.width_bytes = node == COPY_2D ? BYTES / 4 : BYTES,
		.height = node == COPY_2D ? 2 : 1,
		.depth = 1,
		.dimensions = node == COPY_2D ? 2 : 1,
	};
	return (struct patch_params){
		.kind = PATCH_COPY, .size = sizeof(image->copy), .image = image};
}

static int build(struct probe *probe)
{
	struct hip_driver *hip = probe->hip;
	union node_image image;
	int err = HIP_CALL(hip, hipStreamCreateWithFlags, &probe->stream, HIP_STREAM_NON_BLOCKING);

	if (err == 0)
		err = HIP_CALL(hip, hipMalloc, (void **)&probe->device, sizeof(probe->host));
	if (err == 0)
		err = HIP_CALL(hip, hipGraphCreate, &probe->graph, 0);
	if (err == 0)
		probe->module = hip_rtc_load(hip, &probe->kernel, &probe->other);
	probe->count = probe->module ? NODES : KERNEL;
	for (uint32_t i = 0; err == 0 && i < probe->count; i++) {
		struct patch_params params = node_in(probe, BASE, i, &image);

		err = hip_node_add(&hip->device, probe->graph, &params,
				   i ? &probe->nodes[i - 1] : NULL, i > 0, &probe->nodes[i]);
	}
	if (err == 0)
		err = HIP_CALL(hip, hipGraphInstantiate, &probe->exec, probe->graph, NULL, NULL, 0);
	return err;
}

static void release(struct probe *probe)
{
	struct hip_driver *hip = probe->hip;

	if (probe->stream)
		hip->call.hipStreamSynchronize(probe->stream);
	if (probe->exec)
		hip->call.hipGraphExecDestroy(probe->exec);
	if (probe->graph)
		hip->call.hipGraphDestroy(probe->graph);
	if (probe->module)
		hip->call.hipModuleUnload(probe->module);
	if (probe->device)
		hip->call.hipFree(probe->device);
	if (probe->stream)
		hip->call.hipStreamDestroy(probe->stream);
}

/* ---- the calls ---- */

/* If the graph does not even run as it was made, the test says nothing. Then every change makes a
 * new graph. */
static int run_base(struct probe *probe)
{
	int err = reset_cells(probe);

	if (err == 0)
		err = run(probe);
	for (uint32_t i = 0; err == 0 && i < KERNEL; i++)
		err = wrote_in(probe, BASE, i) ? 0 : -EIO;
	/* A simulated device may run only the kernels that it knows. */
	if (err == 0 && probe->count == NODES && !wrote_in(probe, BASE, KERNEL))
		probe->count = KERNEL;
	return err;
}

static int probe_set(struct probe *probe, struct hip_works *works)
{
	struct hip_driver *hip = probe->hip;
	bool is_set[NODES];
	union node_image image;
	int err = reset_cells(probe);

	for (uint32_t i = 0; err == 0 && i < probe->count; i++) {
		struct patch_params params = node_in(probe, SET, i, &image);

		is_set[i] = hip_exec_set(&hip->device, probe->exec, probe->nodes[i], &params) == 0;
	}
	if (err == 0)
		err = run(probe);
	if (err < 0)
		return err;
	works->set_memset = is_set[MEMSET] && wrote_in(probe, SET, MEMSET);
	works->set_copy = is_set[COPY_1D] && wrote_in(probe, SET, COPY_1D) && is_set[COPY_2D] &&
			  wrote_in(probe, SET, COPY_2D);
	works->set_kernel = probe->count == NODES ? is_set[KERNEL] && wrote_in(probe, SET, KERNEL)
						  : works->set_memset && works->set_copy;
	return 0;
}

/* The update that follows must change the function back. */
static int probe_other(struct probe *probe, struct hip_works *works)
{
	struct hip_driver *hip = probe->hip;
	union node_image image;
	struct patch_params params;
	bool is_set;
	int err;

	if (probe->count != NODES || !works->set_kernel || hip->version < HIP_SETS_FUNCTIONS)
		return 0;
	params = node_in(probe, OTHER, KERNEL, &image);
	err = reset_cells(probe);
	is_set = err == 0 &&
		 hip_exec_set(&hip->device, probe->exec, probe->nodes[KERNEL], &params) == 0;
	if (err == 0)
		err = run(probe);
	works->functions = err == 0 && is_set && wrote_in(probe, OTHER, KERNEL);
	return err;
}

static int probe_update(struct probe *probe, struct hip_works *works)
{
	struct hip_driver *hip = probe->hip;
	bool is_updated = true;
	union node_image image;
	int err = reset_cells(probe);

	for (uint32_t i = 0; err == 0 && is_updated && i < probe->count; i++) {
		struct patch_params params = node_in(probe, UPDATE, i, &image);

		is_updated = hip_node_set(&hip->device, probe->nodes[i], &params) == 0;
	}
	if (err == 0 && is_updated)
		is_updated = hip_exec_update(&hip->device, (struct driver_exec *)probe->exec,
					     probe->graph) == 0;
	if (err == 0)
		err = run(probe);
	for (uint32_t i = 0; i < probe->count; i++)
		is_updated &= err == 0 && wrote_in(probe, UPDATE, i);
	works->update = is_updated;
	return err;
}

void hip_probe(struct hip_driver *hip)
{
	struct probe probe = {.hip = hip};
	struct hip_works works = {0};
	int err;

	/* All calls are allowed during the test. */
	hip->works = (struct hip_works){true, true, true, true, true};
	err = build(&probe);
	if (err == 0)
		err = run_base(&probe);
	if (err == 0)
		err = probe_set(&probe, &works);
	if (err == 0)
		err = probe_other(&probe, &works);
	if (err == 0)
		err = probe_update(&probe, &works);
	release(&probe);
	hip->works = err == 0 ? works : (struct hip_works){0};
	patch_fault_take(); /* a call that does not work is not a failure */
}
