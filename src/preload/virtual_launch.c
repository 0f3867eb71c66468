/* Launches of virtual executables: the order between reals. */
#include "preload/virtual.h"

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

/* Where a launch of a real that has the wanted set is measured. */
static struct cost *cost_of_launch(struct virtual *v, uint32_t chosen)
{
	if (chosen && v->reals[chosen].launched == 0)
		return &v->costs.first;
	return chosen == v->last ? &v->costs.same : &v->costs.other;
}

static int launch_real(struct virtual *v, uint32_t chosen, const struct stream_key *key,
		       int (*launch)(void *exec, void *stream))
{
	struct real *real = &v->reals[chosen];
	bool has_wanted = v->is_passing || real_has_wanted(v, real);
	int err = has_wanted ? 0 : real_settle(v, real);
	uint64_t begin = preload_time_begin();
	struct cost *cost = cost_of_launch(v, chosen);
	uint64_t sample = has_wanted ? cost_begin(cost) : 0;

	if (err == 0)
		err = launch(real->handle, key->stream);
	if (err != 0)
		return err;
	cost_end(cost, sample);
	preload_time_end(begin, chosen && real->launched == 0 ? &preload_stats.times.launch_first
				: !has_wanted		      ? &preload_stats.times.launch_updated
				: chosen == v->last	      ? &preload_stats.times.launch_same
							      : &preload_stats.times.launch_other);
	PRELOAD_COUNT(launches);
	virtual_count_sets(v);
	v->tried = 0;
	v->switches += chosen != v->last;
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

/* The only real has what is wanted. */
static int launch_counted(struct virtual *v, const struct stream_key *key,
			  int (*launch)(void *exec, void *stream))
{
	int err = launch_real(v, 0, key, launch);

	if (err == 0)
		virtual_sets_launched(v);
	return err;
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
	if (v->sets && !v->is_passing)
		return launch_counted(v, &key, launch);
	chosen = virtual_choose(v);
	err = order(v, &chosen, &key);
	if (err == 0)
		err = launch_real(v, chosen, &key, launch);
	if (err == 0 && !v->is_passing)
		virtual_look_back(v);
	return err;
}

int virtual_upload(struct virtual *v, void *stream, int (*upload)(void *exec, void *stream))
{
	uint32_t chosen;
	int err;

	if (v->is_passing || !virtual_find_real(v, &chosen))
		chosen = 0;
	err = v->is_passing ? 0 : real_settle(v, &v->reals[chosen]);
	return err ? err : upload(v->reals[chosen].handle, stream);
}
