/* Launches of virtual executables: which real is launched, when another one is made, and the order
 * between reals. */
#include <stdlib.h>
#include <string.h>

#include "preload/virtual.h"

enum {
	MISSED = 1024,	 /* slots for hashes of sets that no real had; a power of two */
	WINDOW = 1024,	 /* changed launches after which it is decided whether sets come back */
	LEAST_SHARE = 4, /* at least 1 of so many has to come back */
	STALE_ROUNDS =
		4, /* a real is given another set if it rested for so many times most_reals */
};

/* Finds a real that has the wanted set. Sets mostly come in the order in which they came before. */
static bool find_real(const struct virtual *v, uint32_t *ret_real)
{
	const uint32_t guesses[] = {v->last, v->reals[v->last].next};

	for (uint32_t i = 0; i < sizeof(guesses) / sizeof(*guesses); i++) {
		if (!real_has_wanted(v, &v->reals[guesses[i]]))
			continue;
		*ret_real = guesses[i];
		return true;
	}
	for (uint32_t i = 0; i < v->real_count; i++) {
		if (!real_has_wanted(v, &v->reals[i]))
			continue;
		*ret_real = i;
		return true;
	}
	return false;
}

/* Returns whether this set was missed before, and notes that it is now. */
static bool note_missed(struct virtual *v)
{
	uint64_t *slot;
	bool is_known;

	if (!v->missed)
		v->missed = calloc(MISSED, sizeof(*v->missed));
	if (!v->missed)
		return false;
	slot = &v->missed[(v->wanted_hash >> 32) & (MISSED - 1)];
	is_known = *slot == v->wanted_hash;
	*slot = v->wanted_hash;
	return is_known;
}

/* Makes another real with the wanted set. False: it could not be made; then no more are. */
static bool make_real(struct virtual *v, uint32_t *ret_real)
{
	struct real *real = &v->reals[v->real_count];
	uintptr_t before = v->vendor->device_enter(v->device);
	uint64_t begin = preload_time_begin();
	int mode = v->vendor->relax();
	int err = -1;

	*real = (struct real){.have = calloc(v->moving_capacity, sizeof(*real->have))};
	if (real->have)
		err = v->vendor->instantiate(&real->handle, v->clone, v->flags);
	preload_time_end(begin, &preload_stats.times.instantiate);
	if (err == 0) {
		err = real_settle(v, real);
		if (err != 0 && v->vendor->exec_destroy(real->handle) != 0)
			PRELOAD_COUNT(failures);
	}
	if (err != 0)
		virtual_inner_failed(v);
	v->vendor->unrelax(mode);
	v->vendor->device_leave(before);
	if (err != 0) {
		free(real->have);
		v->is_full = true;
		return false;
	}
	PRELOAD_COUNT(instantiated);
	*ret_real = v->real_count++;
	return true;
}

/* The real that has rested longest, if it is old enough to get another set; otherwise the first
 * one, which serves all sets that have no real of their own. */
static uint32_t stalest(const struct virtual *v)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < v->real_count; i++)
		if (best == 0 || v->reals[i].launched < v->reals[best].launched)
			best = i;
	if (best &&
	    v->launch_count - v->reals[best].launched < (uint64_t)STALE_ROUNDS * virtual_most_reals)
		return 0;
	return best;
}

/* Chooses the real to launch, and makes one if the wanted set has come back. It may still have to
 * be settled. */
static uint32_t choose(struct virtual *v)
{
	uint32_t chosen;
	bool came_back;

	if (v->is_passing)
		return 0;
	if (find_real(v, &chosen)) {
		if (chosen != v->last) {
			PRELOAD_COUNT(changed);
			PRELOAD_COUNT(found);
			v->window++;
			v->came_back++;
		}
		return chosen;
	}
	PRELOAD_COUNT(changed);
	came_back = note_missed(v);
	v->window++;
	v->came_back += came_back;
	if (!came_back)
		return 0;
	if (!v->is_full && v->real_count < virtual_most_reals && make_real(v, &chosen))
		return chosen;
	return stalest(v);
}

/* When few sets come back, V passes through from now on. */
static void look_back(struct virtual *v)
{
	if (v->window < WINDOW)
		return;
	if (v->came_back < WINDOW / LEAST_SHARE &&
	    virtual_dissolve(v, &preload_stats.pass_rare, "GraphLaunch") != 0)
		PRELOAD_COUNT(failures);
	v->window = 0;
	v->came_back = 0;
}

/* ---- order ---- */

uint64_t virtual_thread_scope(const struct preload_vendor *vendor)
{
	static _Atomic uint64_t threads;
	static __thread uint64_t thread __attribute__((tls_model("initial-exec")));
	uint64_t device = vendor->device_current();

	if (!thread)
		thread = atomic_fetch_add(&threads, 1) + 1;
	/* Contexts are addresses, of which the upper 16 bits are free. */
	return thread << 48 ^ device ^ 1;
}

static int wait_for_last(struct virtual *v, void *stream)
{
	int err = v->vendor->stream_wait(stream, v->event);

	PRELOAD_COUNT(waits);
	if (err != 0)
		virtual_inner_failed(v);
	return err;
}

/* The driver orders launches of one real, and a stream orders what is in it. For another real in
 * another stream we wait for the last launch's event. Where there is none, the real that was
 * launched last is launched again, with the wanted set, and the driver orders it: so a program that
 * always uses one stream has no event. Changes *CHOSEN; returns the driver's result. */
static int order(struct virtual *v, uint32_t *chosen, const struct stream_key *key)
{
	bool is_same = v->last_is_open && v->last_stream.stream == key->stream &&
		       v->last_stream.scope == key->scope;
	int err = 0;

	if (!v->is_launched || is_same)
		return 0;
	v->is_roaming = true;
	if (*chosen == v->last)
		return 0;
	if (v->is_recorded)
		err = wait_for_last(v, key->stream);
	if (v->is_passing || (v->is_recorded && err == 0))
		return err;
	*chosen = v->last;
	return 0;
}

static int launch_real(struct virtual *v, uint32_t chosen, const struct stream_key *key,
		       int (*launch)(void *exec, void *stream))
{
	struct real *real = &v->reals[chosen];
	bool has_wanted = v->is_passing || real_has_wanted(v, real);
	int err = has_wanted ? 0 : real_settle(v, real);
	uint64_t begin = preload_time_begin();

	if (err == 0)
		err = launch(real->handle, key->stream);
	if (err != 0)
		return err;
	preload_time_end(begin, chosen && real->launched == 0 ? &preload_stats.times.launch_first
				: !has_wanted		      ? &preload_stats.times.launch_updated
				: chosen == v->last	      ? &preload_stats.times.launch_same
							      : &preload_stats.times.launch_other);
	PRELOAD_COUNT(launches);
	virtual_count_sets(v);
	real->launched = ++v->launch_count;
	v->reals[v->last].next = chosen;
	v->last = chosen;
	v->is_through = v->is_passing;
	v->is_launched = true;
	v->last_is_open = true;
	v->last_stream = *key;
	v->is_recorded = false;
	if (v->is_roaming && v->real_count > 1 && !v->is_passing)
		virtual_record_last(v);
	return 0;
}

int virtual_launch(struct virtual *v, void *stream, uint64_t scope,
		   int (*launch)(void *exec, void *stream))
{
	const struct stream_key key = {stream, scope};
	uint32_t chosen;
	int err;

	if (v->vendor->is_capturing(stream)) {
		/* Nothing runs: the graph that is captured takes the parameters of now. */
		err = v->is_passing ? 0 : virtual_settle(v);
		return err ? err : launch(v->reals[0].handle, stream);
	}
	chosen = choose(v);
	err = order(v, &chosen, &key);
	if (err == 0)
		err = launch_real(v, chosen, &key, launch);
	if (err == 0 && !v->is_passing)
		look_back(v);
	return err;
}

int virtual_upload(struct virtual *v, void *stream, int (*upload)(void *exec, void *stream))
{
	uint32_t chosen;
	int err;

	if (v->is_passing || !find_real(v, &chosen))
		chosen = 0;
	err = v->is_passing ? 0 : real_settle(v, &v->reals[chosen]);
	return err ? err : upload(v->reals[chosen].handle, stream);
}
