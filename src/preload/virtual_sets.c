/* How many sets come back, counted without keeping executables (DAGPATCH_PRELOAD=advise): each call
 * that sets a node is noted and made, on the program's own executable. What was counted goes to the
 * counters, and as marks to dagtap's recording, if there is one ("dagtap graph --advise"). */
#include <dlfcn.h>
#include <stdlib.h>

#include <dagtap/annotate.h>

#include "base/dlsym_entry.h"
#include "base/hash.h"
#include "base/inject.h"
#include "preload/handle_table.h"
#include "preload/vendor_doors.h"
#include "preload/virtual.h"

enum {
	MOST_SETS = 1 << 20, /* that are remembered of one executable */
	MARK_EVERY = 256,    /* launches; and at those whose number is a power of two */
};

struct virtual_sets {
	struct handle_table seen; /* hashes of sets, in the place of handles */
	uint64_t seen_count;
	uint64_t number; /* of the executable in the process */
	uint64_t last;	 /* hash of the set that was launched last; 0: none was */
	uint64_t launches;
	uint64_t changed;   /* launches with another set than the one before */
	uint64_t came_back; /* of these: with a set that had been there */
	uint64_t calls, ns; /* that set a node, and the time in the driver */
	/* Of these: for a launch whose set had been there; since the last launch. */
	uint64_t calls_back, ns_back, calls_pending, ns_pending;
};

int virtual_sets_create(struct virtual *v)
{
	static _Atomic uint64_t last;

	v->sets = calloc(1, sizeof(*v->sets));
	if (!v->sets)
		return -1;
	v->sets->number = ++last;
	return 0;
}

/* ---- marks ---- */

static const struct inject_table *recorder(void)
{
	const struct inject_table *table = dlsym_inner(RTLD_DEFAULT, INJECT_SYMBOL);

	return table && table->bytes >= sizeof(*table) && table->is_recording() ? table : NULL;
}

/* All that was counted so far; the last mark of an executable is valid. Executables of which no
 * node was set have none. */
static void mark(const struct virtual_sets *sets)
{
	const struct inject_table *table = sets->calls > 0 ? recorder() : NULL;
	const struct dagtap_attribute attributes[] = {
		dagtap_attribute_uint64("executable", sets->number),
		dagtap_attribute_uint64("launches", sets->launches),
		dagtap_attribute_uint64("changed", sets->changed),
		dagtap_attribute_uint64("came_back", sets->came_back),
		dagtap_attribute_uint64("sets", sets->seen_count),
		dagtap_attribute_uint64("calls", sets->calls),
		dagtap_attribute_uint64("calls_back", sets->calls_back),
		dagtap_attribute_uint64("ns", sets->ns),
		dagtap_attribute_uint64("ns_back", sets->ns_back),
	};

	if (!table)
		return;
	table->scope_push_with("dagpatch sets", attributes,
			       sizeof(attributes) / sizeof(*attributes));
	table->scope_pop();
}

void virtual_sets_destroy(struct virtual *v)
{
	if (!v->sets)
		return;
	mark(v->sets);
	handle_table_release(&v->sets->seen);
	free(v->sets);
	v->sets = NULL;
}

/* ---- counting ---- */

void virtual_sets_called(struct virtual *v, uint64_t ns)
{
	v->sets->calls_pending++;
	v->sets->ns_pending += ns;
}

/* Of the images' contents, because the numbers of images may change. Not 0. */
static uint64_t set_hash(const struct virtual *v)
{
	uint64_t hash = 1;

	for (uint32_t i = 0; i < v->moving_count; i++)
		if (v->wanted[i])
			hash += hash_mix(v->images[v->wanted[i] - 1]->hash, i);
	return hash ? hash : 1;
}

/* Whether the set was launched before; remembers it. */
static bool was_there(struct virtual_sets *sets, uint64_t hash)
{
	if (handle_table_find(&sets->seen, (void *)(uintptr_t)hash))
		return true;
	if (sets->seen_count < MOST_SETS &&
	    handle_table_put(&sets->seen, (void *)(uintptr_t)hash, 1) == 0)
		sets->seen_count++;
	return false;
}

void virtual_sets_launched(struct virtual *v)
{
	struct virtual_sets *sets = v->sets;
	uint64_t hash = set_hash(v);
	bool is_changed = sets->launches > 0 && hash != sets->last;
	bool is_back = was_there(sets, hash);

	sets->launches++;
	sets->last = hash;
	sets->calls += sets->calls_pending;
	sets->ns += sets->ns_pending;
	if (is_changed) {
		sets->changed++;
		PRELOAD_COUNT(changed);
	}
	if (is_changed && is_back) {
		sets->came_back++;
		PRELOAD_COUNT(came_back);
	}
	if (is_back) {
		sets->calls_back += sets->calls_pending;
		sets->ns_back += sets->ns_pending;
		atomic_fetch_add_explicit(&preload_stats.avoidable, sets->calls_pending,
					  memory_order_relaxed);
	}
	sets->calls_pending = sets->ns_pending = 0;
	if ((sets->launches & (sets->launches - 1)) == 0 || sets->launches % MARK_EVERY == 0)
		mark(sets);
}
