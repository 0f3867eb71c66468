/* Contexts: creation and destruction, with the device and its layouts of kernels. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "patch/context.h"
#include "patch/errors.h"
#include "patch/layout.h"
#include "patch/retire.h"

enum { DEFAULT_DEPTH = 8, DEFAULT_VERSIONS = 1024 };

static const struct patch_driver *find_driver(const char *name)
{
	for (uint32_t i = 0; name && patch_drivers[i]; i++)
		if (strcmp(patch_drivers[i]->name, name) == 0)
			return patch_drivers[i];
	return NULL;
}

const char *dagpatch_driver_name(uint32_t index)
{
	for (uint32_t i = 0; i <= index; i++)
		if (!patch_drivers[i])
			return NULL;
	return patch_drivers[index]->name;
}

/* Fills in the defaults and copies the strings. */
static int context_own_options(struct dagpatch_context *context)
{
	struct dagpatch_options *options = &context->options;

	if (options->child_depth == 0)
		options->child_depth = DEFAULT_DEPTH;
	if (options->table_versions == 0)
		options->table_versions = DEFAULT_VERSIONS;
	context->driver_name = options->driver ? strdup(options->driver) : NULL;
	context->library = options->library ? strdup(options->library) : NULL;
	if ((options->driver && !context->driver_name) || (options->library && !context->library))
		return -ENOMEM;
	options->driver = context->driver_name;
	options->library = context->library;
	return 0;
}

/* A failure to measure is not an error: without costs DAGPATCH_AUTO does not choose the table. */
static void measure(struct dagpatch_context *context)
{
	struct patch_device *device = context->device;
	const struct dagpatch_options *options = &context->options;
	struct device_visit visit;

	if (!(device->capabilities & PATCH_HAS_TABLE) || options->strategy != DAGPATCH_AUTO ||
	    options->table_from_nodes > 0)
		return;
	if (device_enter(device, &visit) == 0) {
		if (device->driver->measure(device, &device->costs) < 0)
			device->costs = (struct patch_costs){0};
		device_leave(&visit);
	}
	patch_fault_take();
}

static int context_open(struct dagpatch_context *context, struct dagpatch_error *error)
{
	const struct patch_driver *driver = find_driver(context->options.driver);
	struct patch_layouts *layouts;
	int err;

	if (!driver) {
		snprintf(error->message, sizeof(error->message),
			 "no driver \"%s\": options.driver is one of dagpatch_driver_name()",
			 context->options.driver ? context->options.driver : "");
		return -EINVAL;
	}
	err = layouts_create(&layouts);
	if (err < 0)
		return err;
	err = driver->open(&context->options, &context->device, error);
	if (err < 0) {
		layouts_destroy(layouts);
		return err;
	}
	context->device->layouts = layouts;
	pthread_mutex_init(&context->device->shared_graphs, NULL);
	context->device->table_versions = context->options.table_versions;
	measure(context);
	return 0;
}

static int context_read(const struct dagpatch_options *options,
			struct dagpatch_context **ret_context, struct dagpatch_error *error)
{
	struct dagpatch_context *context = calloc(1, sizeof(*context));
	const char *wrong = NULL;
	int err;

	if (!context)
		return -ENOMEM;
	context->references = 1;
	pthread_mutex_init(&context->lock, NULL);
	*ret_context = context;
	err = sized_read(&context->options, sizeof(context->options), options);
	if (err == -EINVAL)
		wrong = "options.size is not sizeof(struct dagpatch_options)";
	else if (err == 0 && (unsigned int)context->options.strategy >= DAGPATCH_STRATEGY_COUNT)
		wrong = "options.strategy is none";
	if (wrong)
		snprintf(error->message, sizeof(error->message), "%s", wrong);
	return wrong ? -EINVAL : err;
}

int dagpatch_context_create(const struct dagpatch_options *options,
			    struct dagpatch_context **ret_context, struct dagpatch_error *error)
{
	struct dagpatch_error local = {.node = DAGPATCH_NONE, .byte = DAGPATCH_NONE};
	struct dagpatch_context *context = NULL;
	int err = ret_context ? context_read(options, &context, &local) : -EINVAL;

	if (err == 0)
		err = context_own_options(context);
	if (err == 0)
		err = context_open(context, &local);
	if (err < 0) {
		dagpatch_context_destroy(context);
		local.code = err;
		if (!local.message[0])
			snprintf(local.message, sizeof(local.message), "%s", strerror(-err));
		if (error)
			*error = local;
		return err;
	}
	*ret_context = context;
	return 0;
}

void context_release(struct dagpatch_context *context)
{
	if (--context->references > 0)
		return;
	if (context->device) {
		struct patch_layouts *layouts = context->device->layouts;

		reap_all(context);
		pthread_mutex_destroy(&context->device->shared_graphs);
		context->device->driver->close(context->device);
		layouts_destroy(layouts);
	}
	pthread_mutex_destroy(&context->lock);
	free(context->driver_name);
	free(context->library);
	free(context);
}

void dagpatch_context_destroy(struct dagpatch_context *context)
{
	if (context)
		context_release(context);
}

uint32_t dagpatch_context_capabilities(const struct dagpatch_context *context)
{
	if (!context)
		return 0;
	return context->device->capabilities &
	       (DAGPATCH_HAS_TABLE | DAGPATCH_HAS_CONDITIONALS | DAGPATCH_HAS_LAYOUTS);
}

int dagpatch_kernel_describe(struct dagpatch_context *context, const void *function,
			     const struct dagpatch_parameter *parameters, uint32_t count)
{
	if (!context || !function || (!parameters && count > 0))
		return -EINVAL;
	return layout_describe(context->device, function, parameters, count);
}
