/* The event that marks the last launch of a virtual executable, failures of inner calls,
 * counters, and the limits. */
#include "preload/virtual.h"

struct virtual_limits virtual_limits;

void virtual_count_sets(struct virtual *v)
{
	atomic_fetch_add_explicit(&preload_stats.sets, v->new_sets, memory_order_relaxed);
	v->noted += v->new_sets;
	v->new_sets = 0;
}

void virtual_inner_failed(const struct virtual *v)
{
	PRELOAD_COUNT(failures);
	if (v->vendor->forget_error)
		v->vendor->forget_error();
}

int virtual_record_last(struct virtual *v)
{
	int mode = vendor_relax(v->vendor);
	int err = v->event ? 0 : v->vendor->event_create(&v->event);

	if (err == 0)
		err = v->vendor->event_record(v->event, v->last_stream.stream);
	if (err != 0)
		virtual_inner_failed(v);
	vendor_unrelax(v->vendor, mode);
	v->is_recorded = err == 0;
	return err;
}

int virtual_mark_last(struct virtual *v)
{
	return v->last != 0 && !v->is_recorded && v->last_is_open ? virtual_record_last(v) : 0;
}

void virtual_leave_stream(struct virtual *v)
{
	if (v->real_count > 1 && !v->is_recorded)
		virtual_record_last(v);
}
