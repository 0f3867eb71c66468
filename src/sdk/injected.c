/* Finds or loads the injected library: see injected.h. */
#include "sdk/injected.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sdk/sdk_export.h"

#define LIBRARY "../libdagtap-inject.so"

/* The library that was loaded here. HANDLE and FOLDER do not change once TABLE is set. */
static struct {
	pthread_mutex_t lock;
	_Atomic(const struct inject_table *) table; /* NULL: none was loaded */
	void *handle;
	char folder[PATH_MAX]; /* of its spools, which this library removes; "": the user's */
	pid_t pid;	       /* of the process that has loaded it */
	_Atomic bool is_on;
	_Atomic bool is_tried; /* to load it */
} own = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const struct inject_table *check(const struct inject_table *table)
{
	return table && table->bytes >= sizeof(*table) &&
			       table->call_bytes >= sizeof(struct inject_call) &&
			       table->mark_bytes >= sizeof(struct inject_mark)
		       ? table
		       : NULL;
}

const struct inject_table *injected_find(void)
{
	/* dlsym takes the loader's lock. The library that it finds is never unloaded. */
	static _Atomic(const struct inject_table *) found;
	const struct inject_table *table = atomic_load(&own.table);

	if (!table)
		table = atomic_load(&found);
	if (!table && (table = check(dlsym(RTLD_DEFAULT, INJECT_SYMBOL))))
		atomic_store(&found, table);
	return table;
}

/* ---- loading ---- */

/* The injected library lies in the folder above the one of this library. */
static bool find_library(char *ret_path, size_t bytes)
{
	const char *slash;
	Dl_info self;

	if (!dladdr(&own, &self) || !(slash = strrchr(self.dli_fname, '/')))
		return false;
	return snprintf(ret_path, bytes, "%.*s/" LIBRARY, (int)(slash - self.dli_fname),
			self.dli_fname) < (int)bytes;
}

static bool make_folder(void)
{
	const char *parent = getenv("TMPDIR");

	return snprintf(own.folder, sizeof(own.folder), "%s/dagtap-sdk-XXXXXX",
			parent && *parent ? parent : "/tmp") < (int)sizeof(own.folder) &&
	       mkdtemp(own.folder);
}

/* What the library reads while it is loaded. Calls of profilers do not start and stop recordings,
 * which begin and end with contexts. */
static const struct inject_settings settings = {
	.bytes = sizeof(settings),
	.spool = own.folder,
	.wait = "2",
	.calls = "all",
};

extern const struct inject_settings *_Atomic dagtap_settings_v1;
SDK_EXPORT const struct inject_settings *_Atomic dagtap_settings_v1;

static void *open_with_settings(const char *path)
{
	void *library;

	atomic_store(&dagtap_settings_v1, &settings);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	atomic_store(&dagtap_settings_v1, NULL);
	return library;
}

/* An empty variable counts as one that is not set. */
static bool is_folder_named(void)
{
	const char *folder = getenv("DAGTAP_SPOOL");

	return folder && *folder;
}

/* Removes the folder, with a spool that nobody has opened. */
static void remove_folder(void)
{
	struct dirent *entry;
	DIR *folder;

	if (!*own.folder || own.pid != getpid() || !(folder = opendir(own.folder)))
		return;
	while ((entry = readdir(folder)))
		if (*entry->d_name != '.')
			unlinkat(dirfd(folder), entry->d_name, 0);
	closedir(folder);
	rmdir(own.folder);
}

/* Called once. */
static void load(void)
{
	const struct inject_table *table;
	char path[PATH_MAX];

	own.pid = getpid();
	if (!find_library(path, sizeof(path)) || (!is_folder_named() && !make_folder()))
		return;
	own.handle = open_with_settings(path);
	table = own.handle ? check(dlsym(own.handle, INJECT_SYMBOL)) : NULL;
	/* Before the library's own handler, and so after it at the end of the process. */
	if (table && atexit(remove_folder) == 0)
		atomic_store(&own.table, table);
	else
		remove_folder();
}

/* Without the lock: dlopen takes the loader's, and a thread that has that one may come here from a
 * constructor. */
const struct inject_table *injected_load(void)
{
	if (!injected_find() && !atomic_exchange(&own.is_tried, true))
		load();
	return injected_find();
}

void *injected_own_symbol(const char *symbol)
{
	return atomic_load(&own.table) ? dlsym(own.handle, symbol) : NULL;
}

/* ---- recordings ---- */

/* In a child of fork, which nobody follows. */
static void stop_in_child(void)
{
	atomic_load(&own.table)->stop();
}

/* After the injected library, whose handler then runs first: it gives the parent's session up. */
static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, stop_in_child);
}

void injected_begin(void)
{
	static pthread_once_t watched = PTHREAD_ONCE_INIT;
	const struct inject_table *table = atomic_load(&own.table);

	if (!table)
		return;
	pthread_mutex_lock(&own.lock);
	/* It may begin later, with the first use of a GPU, and others may have stopped it. */
	if (!atomic_exchange(&own.is_on, true) || !table->is_recording())
		table->start();
	pthread_once(&watched, watch_forks);
	pthread_mutex_unlock(&own.lock);
}

bool injected_is_on(void)
{
	return atomic_load(&own.is_on);
}

void injected_end(bool (*still_wanted)(void))
{
	pthread_mutex_lock(&own.lock);
	if (atomic_load(&own.is_on) && !(still_wanted && still_wanted())) {
		atomic_load(&own.table)->stop();
		atomic_store(&own.is_on, false);
	}
	pthread_mutex_unlock(&own.lock);
}

void injected_opened(const char *path)
{
	size_t bytes = strlen(own.folder);

	if (atomic_load(&own.table) && bytes && !strncmp(path, own.folder, bytes) &&
	    path[bytes] == '/')
		unlink(path);
}

void injected_forget_parent(void)
{
	pthread_mutex_init(&own.lock, NULL);
	atomic_store(&own.is_on, false);
}
