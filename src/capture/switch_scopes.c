/* Instances of the scope of --capture-range: which scopes are one, and which are open. */
#include "capture/switch_scopes.h"

#include <string.h>

#include "base/timer.h"
#include "capture/capture_switch.h"
#include "capture/owner_lock.h"

/* Ranges that are open. */
static struct {
	struct owner_lock lock; /* over the rows */
	_Atomic uint32_t count; /* changed under the lock */
	struct switch_range {
		uint64_t id;
		struct switch_instance instance;
	} rows[SWITCH_RANGES_MOST];
} ranges;

static __thread struct {
	uint32_t depth; /* scopes of the thread that are open and have the name */
	struct switch_instance instance;
} own __attribute__((tls_model("initial-exec")));

bool switch_is_scope(const char *text, size_t bytes)
{
	const char *name = switch_scope_name();
	size_t name_bytes = strlen(name);

	return bytes >= name_bytes && !memcmp(text, name, name_bytes) &&
	       (bytes == name_bytes || text[name_bytes] == '#');
}

/* ---- scopes of a thread ---- */

void switch_scope_begins(void)
{
	if (own.depth++)
		return;
	own.instance = switch_instance_begins();
	switch_settle();
}

void switch_scope_ends(void)
{
	if (!own.depth || --own.depth)
		return;
	switch_instance_ends(own.instance);
	switch_settle();
}

void switch_scopes_thread_ended(void)
{
	if (!own.depth)
		return;
	own.depth = 1;
	switch_scope_ends();
}

void switch_scopes_forget_parent(void)
{
	owner_lock_forget(&ranges.lock);
	atomic_store_explicit(&ranges.count, 0, memory_order_relaxed);
	if (own.depth)
		own.instance = switch_instance_begins();
}

/* ---- ranges by id ---- */

static bool add_range(uint64_t id)
{
	bool is_added = false;
	uint32_t at;

	if (!owner_lock_take(&ranges.lock, timer_start(TIMER_SESSION_CHANGE)))
		return false;
	at = atomic_load_explicit(&ranges.count, memory_order_relaxed);
	if (at < SWITCH_RANGES_MOST) {
		ranges.rows[at] =
			(struct switch_range){.id = id, .instance = switch_instance_begins()};
		atomic_store_explicit(&ranges.count, at + 1, memory_order_relaxed);
		is_added = true;
	}
	owner_lock_release(&ranges.lock);
	return is_added;
}

void switch_range_begins(uint64_t id)
{
	if (add_range(id))
		switch_settle();
	else
		switch_count_unfollowed();
}

/* Returns whether ID was there. */
static bool take_range(uint64_t id, struct switch_instance *ret_instance)
{
	bool found = false;
	uint32_t count;

	if (!atomic_load_explicit(&ranges.count, memory_order_relaxed) ||
	    !owner_lock_take(&ranges.lock, timer_start(TIMER_SESSION_CHANGE)))
		return false;
	count = atomic_load_explicit(&ranges.count, memory_order_relaxed);
	for (uint32_t i = 0; i < count && !found; i++) {
		found = ranges.rows[i].id == id;
		if (!found)
			continue;
		*ret_instance = ranges.rows[i].instance;
		ranges.rows[i] = ranges.rows[count - 1];
		atomic_store_explicit(&ranges.count, count - 1, memory_order_relaxed);
	}
	owner_lock_release(&ranges.lock);
	return found;
}

void switch_range_ends(uint64_t id)
{
	struct switch_instance instance;

	if (!take_range(id, &instance))
		return;
	switch_instance_ends(instance);
	switch_settle();
}
