/*
 * The kernels of tests/patch/bed_kernels.cu and src/patch/cuda/cuda_kernels.cu as C functions, and
 * nodes whose parameters the device writes.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "../patch/bed.h"
#include "patch/cuda/cuda_kernels.h"
#include "played_cuda.h"

#define PARAMETERS_MOST 4

static uint32_t threads(const uint32_t grid[3], const uint32_t block[3])
{
	return grid[0] * block[0];
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

struct binary {
	uint32_t *c;
	const uint32_t *a, *b;
	uint32_t n;
};

static void run_add(const void *block, const uint32_t grid[3], const uint32_t size[3])
{
	const struct binary *args = block;

	for (uint32_t i = 0; i < least(args->n, threads(grid, size)); i++)
		args->c[i] = args->a[i] + args->b[i];
}

static void run_mul(const void *block, const uint32_t grid[3], const uint32_t size[3])
{
	const struct binary *args = block;

	for (uint32_t i = 0; i < least(args->n, threads(grid, size)); i++)
		args->c[i] = args->a[i] * args->b[i];
}

struct fold {
	uint64_t *out;
	const uint64_t *in;
	uint64_t scalar;
	uint32_t n;
};

static void run_fold(const void *block, const uint32_t grid[3], const uint32_t size[3])
{
	const struct fold *args = block;

	for (uint32_t i = 0; i < least(args->n, threads(grid, size)); i++)
		args->out[i] = args->out[i] * 31 + args->in[i] + args->scalar;
}

struct mark {
	uint32_t *at;
	uint32_t value;
};

static void run_mark(const void *block, const uint32_t grid[3], const uint32_t size[3])
{
	const struct mark *args = block;

	args->at[0] += args->value;
}

static void run_struct(const void *block, const uint32_t grid[3], const uint32_t size[3])
{
	const struct bed_struct *args = block;

	for (uint32_t i = 0; i < least(args->count, threads(grid, size)); i++)
		args->dst[i] = args->src[i] + (uint32_t)args->scalar;
}

static void run_packed(const void *block, const uint32_t grid[3], const uint32_t size[3])
{
	const struct bed_packed *args = block;

	for (uint32_t i = 0; i < least(args->count, threads(grid, size)); i++)
		args->dst[i] = args->src[i] + args->scalar;
}

static void run_hold(const void *block, const uint32_t grid[3], const uint32_t size[3])
{
	const uint32_t *const *flag = block;

	while (!__atomic_load_n(*flag, __ATOMIC_ACQUIRE))
		sched_yield();
}

struct count_down {
	int32_t *counter;
	uint32_t *sum;
	uint32_t value;
};

static void run_count_down(const void *block, const uint32_t grid[3], const uint32_t size[3])
{
	const struct count_down *args = block;

	args->sum[0] += args->value;
	args->counter[0]--;
}

/* ---- the updater ---- */

static uint64_t apply_entry(const struct updater_plan *plan, uint64_t at)
{
	const struct updater_entry *entry = &plan->log[at & (plan->log_count - 1)];

	for (unsigned int i = plan->first[entry->slot]; i < plan->first[entry->slot + 1]; i++) {
		const struct updater_relocation *relocation = &plan->relocations[i];

		if (played_set_param((struct played_device_node *)relocation->node,
				     relocation->offset, entry->address + relocation->addend))
			plan->progress->error = CUDA_INVALID_VALUE;
	}
	return at + 1;
}

static void run_update(const void *block, const uint32_t grid[3], const uint32_t size[3])
{
	const struct updater_plan *plan = block;
	struct updater_state *state = plan->state;
	uint64_t end =
		__atomic_load_n(&plan->ends[state->runs & (plan->end_count - 1)], __ATOMIC_ACQUIRE);

	while (state->applied < end)
		state->applied = apply_entry(plan, state->applied);
	state->runs++;
	__atomic_store_n(&plan->progress->runs, state->runs, __ATOMIC_RELEASE);
}

/* The kernel that a disabled node calls. */
static void run_nothing(const void *block, const uint32_t grid[3], const uint32_t size[3])
{
}

struct dagpatch_model_kernel played_nothing = {.function = run_nothing};

/* ---- by name ---- */

struct named_kernel {
	const char *name;
	dagpatch_model_fn function;
	uint32_t sizes[PARAMETERS_MOST]; /* of the parameters, aligned as in C */
};

static const struct named_kernel named[] = {
	{"bed_add", run_add, {8, 8, 8, 4}},
	{"bed_mul", run_mul, {8, 8, 8, 4}},
	{"bed_fold", run_fold, {8, 8, 8, 4}},
	{"bed_mark", run_mark, {8, 4}},
	{"bed_struct", run_struct, {sizeof(struct bed_struct)}},
	{"bed_packed", run_packed, {sizeof(struct bed_packed)}},
	{"bed_hold", run_hold, {8}},
	{"bed_count_down", run_count_down, {8, 8, 4}},
	{NOTHING_KERNEL, run_nothing, {8}},
	{UPDATER_KERNEL, run_update, {sizeof(struct updater_plan)}},
};

#define KERNEL_COUNT (sizeof(named) / sizeof(*named))

static struct dagpatch_model_kernel *kernels[KERNEL_COUNT];

static void make_kernels(void)
{
	for (size_t i = 0; i < KERNEL_COUNT; i++) {
		struct dagpatch_parameter parameters[PARAMETERS_MOST] = {0};
		uint32_t count = 0;

		while (count < PARAMETERS_MOST && named[i].sizes[count]) {
			/* All parameters but the last are pointers or 64-bit values. */
			parameters[count].offset = 8 * count;
			parameters[count].bytes = named[i].sizes[count];
			count++;
		}
		if (dagpatch_model_kernel_create(named[i].function, parameters, count, &kernels[i]))
			abort();
		dagpatch_model_kernel_name(kernels[i], named[i].name);
	}
}

struct dagpatch_model_kernel *played_kernel(const char *name)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_kernels);
	if (!strcmp(name, CONDITION_KERNEL))
		return model_condition_kernel();
	for (size_t i = 0; i < KERNEL_COUNT; i++) {
		if (!strcmp(named[i].name, name))
			return kernels[i];
	}
	return played_lifetime_kernel(name);
}

/* ---- updatable nodes ---- */

struct written {
	uint64_t offset, value;
};

struct played_device_node {
	struct played_device_node *next;
	/* the kernel that the node calls instead: run_updatable */
	struct dagpatch_model_kernel kernel;
	const struct dagpatch_model_kernel *real;
	struct written *written;
	uint32_t count;
	bool is_forgotten; /* at the next upload */
};

/* Stored before the arguments; its size is a multiple of their alignment. */
struct prefix {
	struct played_device_node *node;
	uint64_t unused;
};

static struct played_device_node *all_nodes; /* never freed */
/*
 * Protects the list and what is written into the nodes: the upload of one graph reads all of them.
 */
static pthread_mutex_t nodes_lock = PTHREAD_MUTEX_INITIALIZER;

/* BLOCK is the run's own copy. */
static void run_updatable(const void *block, const uint32_t grid[3], const uint32_t size[3])
{
	const struct played_device_node *node = ((const struct prefix *)block)->node;
	char *arguments = (char *)block + sizeof(struct prefix);

	pthread_mutex_lock(&nodes_lock);
	for (uint32_t i = 0; i < node->count; i++)
		memcpy(arguments + node->written[i].offset, &node->written[i].value,
		       sizeof(uint64_t));
	pthread_mutex_unlock(&nodes_lock);
	node->real->function(arguments, grid, size);
}

struct played_device_node *played_device_node(const struct model_node *node)
{
	const struct patch_kernel *kernel = (const struct patch_kernel *)node->image;
	const struct dagpatch_model_kernel *function = kernel->function;

	return function->function == run_updatable
		       ? ((const struct prefix *)kernel->arguments)->node
		       : NULL;
}

const struct dagpatch_model_kernel *played_real_kernel(const struct model_node *node)
{
	const struct played_device_node *device_node = played_device_node(node);

	return device_node ? device_node->real
			   : ((const struct patch_kernel *)node->image)->function;
}

int played_wrap(struct played_device_node *node, struct patch_image *image)
{
	uint32_t bytes = image->size - (uint32_t)sizeof(struct patch_kernel);
	struct prefix prefix = {node, 0};
	struct patch_kernel *kernel;
	int rc = patch_image_resize(image, image->size + (uint32_t)sizeof(prefix));

	if (rc)
		return rc;
	kernel = (struct patch_kernel *)image->bytes;
	memmove(kernel->arguments + sizeof(prefix), kernel->arguments, bytes);
	memcpy(kernel->arguments, &prefix, sizeof(prefix));
	kernel->argument_bytes += sizeof(prefix);
	kernel->function = &node->kernel;
	return 0;
}

int played_make_updatable(struct model_node *node, struct played_device_node **ret_device_node)
{
	struct patch_image image = {PATCH_KERNEL, node->size, node->size, NULL, node->image};
	struct played_device_node *made = played_device_node(node);
	int rc;

	if (!made) {
		made = calloc(1, sizeof(*made));
		if (!made)
			return -ENOMEM;
		made->kernel.function = run_updatable;
		made->real = played_real_kernel(node);
		pthread_mutex_lock(&nodes_lock);
		made->next = all_nodes;
		all_nodes = made;
		pthread_mutex_unlock(&nodes_lock);
		rc = played_wrap(made, &image);
		if (rc)
			return rc;
		node->image = image.bytes;
		node->size = image.size;
	}
	*ret_device_node = made;
	return 0;
}

const uint8_t *played_arguments(const struct model_node *node, uint32_t *ret_bytes)
{
	const struct patch_kernel *kernel = (const struct patch_kernel *)node->image;
	size_t skipped = played_device_node(node) ? sizeof(struct prefix) : 0;

	*ret_bytes = kernel->argument_bytes - (uint32_t)skipped;
	return kernel->arguments + skipped;
}

int played_set_param(struct played_device_node *node, uint64_t offset, uint64_t value)
{
	uint32_t i = 0;

	if (offset + sizeof(value) > node->real->bytes)
		return CUDA_INVALID_VALUE;
	pthread_mutex_lock(&nodes_lock);
	while (i < node->count && node->written[i].offset != offset)
		i++;
	if (i == node->count) {
		node->written = realloc(node->written, (i + 1) * sizeof(*node->written));
		if (!node->written)
			abort();
		node->count++;
	}
	node->written[i] = (struct written){offset, value};
	pthread_mutex_unlock(&nodes_lock);
	return CUDA_OK;
}

void played_forget_params(struct played_device_node *node)
{
	pthread_mutex_lock(&nodes_lock);
	node->is_forgotten = true;
	pthread_mutex_unlock(&nodes_lock);
}

void played_upload(void)
{
	pthread_mutex_lock(&nodes_lock);
	for (struct played_device_node *node = all_nodes; node; node = node->next) {
		if (node->is_forgotten)
			node->count = 0;
		node->is_forgotten = false;
	}
	pthread_mutex_unlock(&nodes_lock);
}
