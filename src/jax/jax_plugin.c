/* libdagtap-jax: a plugin of XLA's profiler (docs/jax.md). What jax.profiler.trace and
 * jax.profiler.start_server write then holds dagtap's planes beside JAX's own.
 *
 * This file implements the functions of PJRT's profiler extension (pjrt_profiler.h) on profiles
 * (profile.h). Errors are returned for arguments that are not well-formed and for a lack of memory
 * alone; XLA logs them and goes on. */
#include <dagtap/jax.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "jax/gpu_plugin.h"
#include "jax/pjrt_profiler.h"
#include "jax/profile.h"

#define EXPORT __attribute__((visibility("default")))

struct pjrt_profiler_error {
	const char *message;
	enum pjrt_code code;
};

/* Static, so that reporting a lack of memory needs none. */
static struct pjrt_profiler_error incomplete = {"dagtap: the call's arguments are incomplete",
						PJRT_INVALID_ARGUMENT};
static struct pjrt_profiler_error no_size = {"dagtap: a buffer was given before its size was asked",
					     PJRT_INVALID_ARGUMENT};
static struct pjrt_profiler_error no_memory = {"dagtap: no memory for a profile",
					       PJRT_RESOURCE_EXHAUSTED};

/* The profile that was created last, until it is started or destroyed. XLA creates the profilers of
 * a profile one after the other, then starts them, and makes one profile at a time. */
static _Atomic(struct profile *) created;

static void forget_created(struct profile *profile)
{
	atomic_compare_exchange_strong(&created, &profile, NULL);
}

/* Called while XLA creates the profiler of its plugin for GPUs, which was registered later. */
static void start_created(void)
{
	struct profile *profile = atomic_exchange(&created, NULL);

	if (profile)
		profile_start(profile);
}

static struct profile *profile_of(struct pjrt_profiler *profiler)
{
	return (struct profile *)profiler;
}

static void destroy_error(struct pjrt_error_destroy *args)
{
	(void)args;
}

static void get_message(struct pjrt_error_message *args)
{
	args->ret_message = args->error ? args->error->message : "";
	args->ret_bytes = strlen(args->ret_message);
}

static struct pjrt_profiler_error *get_code(struct pjrt_error_get_code *args)
{
	if (!args->error)
		return &incomplete;
	args->ret_code = args->error->code;
	return NULL;
}

/* The options are not read: they are of XLA's own tracers.
 *
 * If JAX loads its plugin for GPUs after it has registered this one, XLA creates this profiler
 * first, and the plugin is there by now. */
static struct pjrt_profiler_error *create(struct pjrt_profiler_create *args)
{
	struct profile *profile;

	if (!args)
		return &incomplete;
	gpu_plugin_guard(start_created);
	profile = profile_create();
	if (!profile)
		return &no_memory;
	args->ret_profiler = (struct pjrt_profiler *)profile;
	atomic_store(&created, profile);
	return NULL;
}

static struct pjrt_profiler_error *destroy(struct pjrt_profiler_verb *args)
{
	if (!args)
		return &incomplete;
	forget_created(profile_of(args->profiler));
	profile_destroy(profile_of(args->profiler));
	return NULL;
}

static struct pjrt_profiler_error *start(struct pjrt_profiler_verb *args)
{
	if (!args || !args->profiler)
		return &incomplete;
	forget_created(profile_of(args->profiler));
	profile_start(profile_of(args->profiler));
	return NULL;
}

static struct pjrt_profiler_error *stop(struct pjrt_profiler_verb *args)
{
	if (!args || !args->profiler)
		return &incomplete;
	profile_stop(profile_of(args->profiler));
	return NULL;
}

/* XLA passes no buffer and reads ours. A caller that has its own asks for the size first. */
static struct pjrt_profiler_error *collect_data(struct pjrt_profiler_collect *args)
{
	const uint8_t *bytes;
	bool knows_size;

	if (!args || !args->profiler)
		return &incomplete;
	knows_size = profile_is_made(profile_of(args->profiler)) != 0;
	if (args->buffer && !knows_size)
		return &no_size;
	bytes = profile_bytes(profile_of(args->profiler), &args->ret_bytes);
	if (args->buffer)
		memcpy(args->buffer, bytes, args->ret_bytes);
	else
		args->buffer = (uint8_t *)bytes;
	return NULL;
}

static const struct pjrt_profiler_api profiler_api = {
	.size = sizeof(profiler_api),
	.error_destroy = destroy_error,
	.error_message = get_message,
	.error_get_code = get_code,
	.create = create,
	.destroy = destroy,
	.start = start,
	.stop = stop,
	.collect_data = collect_data,
};

static const struct pjrt_profiler_extension extension = {
	.size = sizeof(extension),
	.type = PJRT_EXTENSION_PROFILER,
	.profiler_api = &profiler_api,
};

static const struct pjrt_api api = {
	.size = sizeof(api),
	.extensions = &extension,
	.version = {.size = sizeof(struct pjrt_api_version)},
};

EXPORT const void *dagtap_jax_pjrt_api(void)
{
	gpu_plugin_guard(start_created);
	return &api;
}
