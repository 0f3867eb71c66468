/* Finds virtual executables by the program's handles. Looked up by every graph call, changed only
 * when executables are made and destroyed. So each thread remembers what it found until then. */
#include <stdlib.h>

#include "base/hash.h"
#include "preload/handle_table.h"
#include "preload/virtual.h"

static struct handle_table handles; /* pointers to struct virtual */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

enum { REMEMBERED = 16 }; /* a power of two */

/* What the thread found, direct mapped; valid while `changes` is the table's. */
struct remembered {
	void *handle;
	struct virtual *value;
	uint64_t changes;
};
static __thread struct remembered remembered[REMEMBERED] __attribute__((tls_model("initial-exec")));
static _Atomic uint64_t changes = 1; /* of the table; written with the lock */

static struct virtual *virtual_of(uint64_t value)
{
	return (struct virtual *)(uintptr_t)value;
}

static struct virtual *look_up(struct remembered *to, void *handle)
{
	const struct handle_entry *entry;
	struct virtual *found;

	pthread_rwlock_rdlock(&lock);
	entry = handle_table_find(&handles, handle);
	found = entry ? virtual_of(entry->value) : NULL;
	*to = (struct remembered){handle, found, changes};
	pthread_rwlock_unlock(&lock);
	return found;
}

struct virtual *registry_find(void *handle)
{
	struct remembered *at =
		&remembered[(uint32_t)(hash_mix((uintptr_t)handle, 0) >> 32) & (REMEMBERED - 1)];

	/* pairs with the releases in registry_add and registry_remove */
	if (at->handle == handle &&
	    at->changes == atomic_load_explicit(&changes, memory_order_acquire))
		return at->value;
	return look_up(at, handle);
}

int registry_add(void *handle, struct virtual *v)
{
	int err;

	pthread_rwlock_wrlock(&lock);
	err = handle_table_put(&handles, handle, (uintptr_t)v);
	if (err == 0)
		atomic_fetch_add_explicit(&changes, 1, memory_order_release);
	pthread_rwlock_unlock(&lock);
	return err;
}

struct virtual *registry_remove(void *handle)
{
	struct virtual *found;

	pthread_rwlock_wrlock(&lock);
	found = virtual_of(handle_table_remove(&handles, handle));
	if (found)
		atomic_fetch_add_explicit(&changes, 1, memory_order_release);
	pthread_rwlock_unlock(&lock);
	return found;
}

void registry_each(void (*visit)(struct virtual *v, void *user), void *user)
{
	pthread_rwlock_rdlock(&lock);
	for (uint32_t i = 0; i < handles.entry_count; i++)
		if (handles.entries[i].value)
			visit(virtual_of(handles.entries[i].value), user);
	pthread_rwlock_unlock(&lock);
}
