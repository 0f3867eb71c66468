/* Guards the profiler of XLA's plugin for GPUs. gpu_plugin.h has the contracts. */
#include "jax/gpu_plugin.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define GET_API "GetPjrtApi"

typedef struct pjrt_profiler_error *(*create_function)(struct pjrt_profiler_create *args);

/* The one that is guarded. `api` is written once, before its table has `create_guarded`. */
static struct {
	pthread_mutex_t lock;
	struct pjrt_profiler_api *api; /* NULL: none yet */
	create_function create;	       /* of the plugin */
	void (*before_start)(void);
} guarded = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ProfileOptions with device_tracer_level (field 3) 0 and device_type (field 6) CPU: the tracer for
 * AMD GPUs reads the type alone. Of a field that stands twice, the later one counts. */
static const char no_device_tracer[] = {3 << 3, 0, 6 << 3, 1};

static struct pjrt_profiler_error *create_without_tracer(struct pjrt_profiler_create *args)
{
	struct pjrt_profiler_create other = *args;
	struct pjrt_profiler_error *error;
	char *options = malloc(args->options_bytes + sizeof(no_device_tracer));

	if (!options)
		return guarded.create(args);
	if (args->options_bytes)
		memcpy(options, args->options, args->options_bytes);
	memcpy(options + args->options_bytes, no_device_tracer, sizeof(no_device_tracer));
	other.options = options;
	other.options_bytes += sizeof(no_device_tracer);
	error = guarded.create(&other);
	free(options);
	if (!error)
		args->ret_profiler = other.ret_profiler;
	return error;
}

/* Starts the profiler at once, to see whether it does. XLA starts it right after; the plugin then
 * finds it started, and returns. */
static struct pjrt_profiler_error *create_guarded(struct pjrt_profiler_create *args)
{
	struct pjrt_profiler_error *error = guarded.create(args);
	struct pjrt_profiler_verb verb = {.size = sizeof(verb)};
	struct pjrt_error_destroy end = {.size = sizeof(end)};

	if (error)
		return error;
	guarded.before_start();
	verb.profiler = args->ret_profiler;
	end.error = guarded.api->start(&verb);
	if (!end.error)
		return NULL;
	guarded.api->error_destroy(&end);
	/* Its recorder of host events runs, and there is one in a process. Destroying stops it. */
	error = guarded.api->destroy(&verb);
	return error ? error : create_without_tracer(args);
}

struct word {
	uintptr_t address;
	bool is_writable;
};

static bool has(const struct dl_phdr_info *object, const ElfW(Phdr) * segment, uintptr_t address)
{
	uintptr_t first = object->dlpi_addr + segment->p_vaddr;

	return address >= first && address - first < segment->p_memsz;
}

/* Whether a segment of OBJECT has the word, and it may be written. */
static int look_for_word(struct dl_phdr_info *object, size_t bytes, void *data)
{
	struct word *word = data;
	bool is_there = false;

	(void)bytes;
	for (unsigned i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];

		if (!has(object, segment, word->address))
			continue;
		if (segment->p_type == PT_LOAD) {
			is_there = true;
			word->is_writable = segment->p_flags & PF_W;
		}
		if (segment->p_type == PT_GNU_RELRO) {
			word->is_writable = false;
			return 1;
		}
	}
	return is_there;
}

static bool is_writable(const void *address)
{
	struct word word = {.address = (uintptr_t)address};

	dl_iterate_phdr(look_for_word, &word);
	return word.is_writable;
}

/* The extension of TYPE; their heads are alike. */
static const struct pjrt_profiler_extension *find_extension(const struct pjrt_api *api, int type)
{
	const struct pjrt_profiler_extension *extension = api->extensions;

	while (extension && extension->type != type)
		extension = extension->next;
	return extension;
}

int gpu_plugin_guard_api(const struct pjrt_api *api, void (*before_start)(void))
{
	const struct pjrt_profiler_extension *profiler =
		find_extension(api, PJRT_EXTENSION_PROFILER);
	struct pjrt_profiler_api *table;
	int is_guarded;

	if (!profiler || !profiler->profiler_api || !find_extension(api, PJRT_EXTENSION_GPU))
		return 0;
	table = (struct pjrt_profiler_api *)profiler->profiler_api;
	if (table->size < sizeof(*table) || !is_writable(&table->create))
		return 0;
	pthread_mutex_lock(&guarded.lock);
	if (!guarded.api) {
		guarded.api = table;
		guarded.create = table->create;
		guarded.before_start = before_start;
		__atomic_store_n(&table->create, create_guarded, __ATOMIC_RELEASE);
	}
	is_guarded = guarded.api == table;
	pthread_mutex_unlock(&guarded.lock);
	return is_guarded;
}

struct paths {
	char **path; /* owned */
	size_t count;
};

static int add_path(struct dl_phdr_info *object, size_t bytes, void *data)
{
	struct paths *paths = data;
	char **grown;

	(void)bytes;
	if (!object->dlpi_name || !*object->dlpi_name)
		return 0;
	grown = realloc(paths->path, (paths->count + 1) * sizeof(*grown));
	if (!grown)
		return 1;
	paths->path = grown;
	grown[paths->count] = strdup(object->dlpi_name);
	return !grown[paths->count++];
}

/* Guards the plugin at PATH if it is one. */
static bool guard_library(const char *path, void (*before_start)(void))
{
	void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	void *symbol = library ? dlsym(library, GET_API) : NULL;
	const struct pjrt_api *(*get_api)(void);
	const struct pjrt_api *api = NULL;

	memcpy(&get_api, &symbol, sizeof(get_api));
	if (symbol)
		api = get_api();
	if (api && gpu_plugin_guard_api(api, before_start))
		return true; /* and the library stays loaded */
	if (library)
		dlclose(library);
	return false;
}

void gpu_plugin_guard(void (*before_start)(void))
{
	struct paths paths = {0};
	bool is_found;

	pthread_mutex_lock(&guarded.lock);
	is_found = guarded.api != NULL;
	pthread_mutex_unlock(&guarded.lock);
	if (is_found)
		return;
	/* The loader's lock is held in the first call, so that nothing is opened there. */
	dl_iterate_phdr(add_path, &paths);
	for (size_t i = 0; i < paths.count; i++) {
		if (paths.path[i] && !is_found)
			is_found = guard_library(paths.path[i], before_start);
		free(paths.path[i]);
	}
	free(paths.path);
}
