/* Finds virtual executables by the program's handles: a hash table with open addressing, in which a
 * removed entry keeps its handle without a value. Looked up by every graph call, changed only when
 * executables are made and destroyed. So each thread remembers what it found until then. */
#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "preload/virtual.h"

static struct entry {
	void *handle; /* NULL: free */
	struct virtual *value;
} * entries;
static uint32_t entry_count; /* a power of two, or 0 */
static uint32_t used;	     /* entries with a handle */
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

/* The entry of HANDLE, or the free one where it belongs. */
static struct entry *entry_of(struct entry *in, uint32_t count, const void *handle)
{
	uint32_t at = (uint32_t)(hash_mix((uintptr_t)handle, 0) >> 32) & (count - 1);

	while (in[at].handle && in[at].handle != handle)
		at = (at + 1) & (count - 1);
	return &in[at];
}

static struct virtual *look_up(struct remembered *to, void *handle)
{
	struct virtual *found = NULL;

	pthread_rwlock_rdlock(&lock);
	if (handle && entry_count > 0)
		found = entry_of(entries, entry_count, handle)->value;
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

/* Makes room for one more entry; drops those without a value. */
static int make_room(void)
{
	uint32_t count = 64, alive = 1;
	struct entry *larger;

	if (used < entry_count / 2)
		return 0;
	for (uint32_t i = 0; i < entry_count; i++)
		alive += entries[i].value != NULL;
	while (count < 4 * alive)
		count *= 2;
	larger = calloc(count, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	used = 0;
	for (uint32_t i = 0; i < entry_count; i++) {
		if (!entries[i].value)
			continue;
		*entry_of(larger, count, entries[i].handle) = entries[i];
		used++;
	}
	free(entries);
	entries = larger;
	entry_count = count;
	return 0;
}

int registry_add(void *handle, struct virtual *v)
{
	int err;

	pthread_rwlock_wrlock(&lock);
	err = make_room();
	if (err == 0) {
		struct entry *entry = entry_of(entries, entry_count, handle);

		used += !entry->handle;
		*entry = (struct entry){handle, v};
		atomic_fetch_add_explicit(&changes, 1, memory_order_release);
	}
	pthread_rwlock_unlock(&lock);
	return err;
}

struct virtual *registry_remove(void *handle)
{
	struct virtual *found = NULL;

	pthread_rwlock_wrlock(&lock);
	if (handle && entry_count > 0) {
		struct entry *entry = entry_of(entries, entry_count, handle);

		found = entry->value;
		entry->value = NULL;
		atomic_fetch_add_explicit(&changes, 1, memory_order_release);
	}
	pthread_rwlock_unlock(&lock);
	return found;
}

void registry_each(void (*visit)(struct virtual *v, void *user), void *user)
{
	pthread_rwlock_rdlock(&lock);
	for (uint32_t i = 0; i < entry_count; i++)
		if (entries[i].value)
			visit(entries[i].value, user);
	pthread_rwlock_unlock(&lock);
}
