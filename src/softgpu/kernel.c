/* The registry of kernels by name. Entries are only added and never removed, so readers walk a hash
 * chain without a lock. */
#include "softgpu/kernel.h"

#include <dlfcn.h>
#include <errno.h>
#include <fnmatch.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "softgpu/blit_kernels.h"
#include "softgpu/config.h"
#include "softgpu/softgpu_threads.h"

#define BUCKETS		 1024u
#define EXPORT_PREFIX	 "softgpu_kernel_"
#define EXPORT_MAX_BYTES 1024

static struct {
	pthread_mutex_t lock;
	pthread_once_t once;
	_Atomic(struct kernel_entry *) bucket[BUCKETS];
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

static void registry_init(void)
{
	process_guard_lock(&registry.lock);
}

static uint64_t modelled_ns(const char *name)
{
	const struct softgpu_config *config = config_get();

	for (uint32_t i = 0; i < config->kernel_pattern_count; i++)
		if (!fnmatch(config->kernel_pattern[i].glob, name, 0))
			return config->kernel_pattern[i].ns;
	return config->kernel_ns;
}

static struct kernel_entry *lookup(const char *name, uint32_t hash)
{
	/* The acquire pairs with the release in add(). */
	struct kernel_entry *entry =
		atomic_load_explicit(&registry.bucket[hash % BUCKETS], memory_order_acquire);

	while (entry && (entry->hash != hash || strcmp(entry->name, name) != 0))
		entry = entry->next;
	return entry;
}

/* With the lock held. */
static struct kernel_entry *add(const char *name, uint32_t hash)
{
	_Atomic(struct kernel_entry *) *bucket = &registry.bucket[hash % BUCKETS];
	struct kernel_entry *entry = lookup(name, hash);
	size_t bytes = strlen(name) + 1;

	if (entry)
		return entry;
	entry = malloc(sizeof(*entry) + bytes);
	if (!entry)
		return NULL;
	memcpy(entry->name, name, bytes);
	entry->hash = hash;
	entry->is_blit = !strncmp(name, BLIT_PREFIX, sizeof(BLIT_PREFIX) - 1);
	entry->modelled_ns = modelled_ns(name);
	entry->blit = blit_find(name);
	atomic_init(&entry->function, entry->blit ? entry->blit->function : NULL);
	entry->next = atomic_load_explicit(bucket, memory_order_relaxed);
	/* The release pairs with the acquire in lookup(). */
	atomic_store_explicit(bucket, entry, memory_order_release);
	return entry;
}

struct kernel_entry *kernel_find(const char *name)
{
	uint32_t hash = (uint32_t)hash_bytes(name, strlen(name));
	struct kernel_entry *entry = lookup(name, hash);

	if (entry)
		return entry;
	pthread_once(&registry.once, registry_init);
	pthread_mutex_lock(&registry.lock);
	entry = add(name, hash);
	pthread_mutex_unlock(&registry.lock);
	return entry;
}

/* Keeps the library of FUNCTION loaded: a library that was opened with dlopen may be closed while
 * its kernels can still be dispatched. The program itself cannot be opened by name, nor closed. */
static void pin_library(softgpu_kernel_fn function)
{
	Dl_info where;
	void *address;

	memcpy(&address, &function, sizeof(address));
	if (dladdr(address, &where) && where.dli_fname)
		dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

void kernel_resolve(const char *name)
{
	struct kernel_entry *entry = kernel_find(name);
	char symbol[EXPORT_MAX_BYTES];
	softgpu_kernel_fn none = NULL;
	softgpu_kernel_fn function;
	void *address;

	if (!entry || atomic_load_explicit(&entry->function, memory_order_relaxed))
		return;
	if (snprintf(symbol, sizeof(symbol), EXPORT_PREFIX "%s", name) >= (int)sizeof(symbol))
		return;
	address = dlsym(RTLD_DEFAULT, symbol);
	if (!address)
		return;
	memcpy(&function, &address, sizeof(function));
	pin_library(function);
	/* If the program has registered a function meanwhile, that one stays. */
	atomic_compare_exchange_strong(&entry->function, &none, function);
}

int softgpu_kernel_register(const char *name, softgpu_kernel_fn function)
{
	struct kernel_entry *entry;

	if (!name || !*name)
		return -EINVAL;
	entry = kernel_find(name);
	if (!entry)
		return -ENOMEM;
	atomic_store_explicit(&entry->function, function, memory_order_release);
	return 0;
}
