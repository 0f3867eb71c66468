#include "capture/hsa/hsa_copies.h"

#include "capture/frame.h"
#include "capture/hsa/hsa_calls.h"
#include "capture/hsa/hsa_monitor.h"
#include "capture/hsa/hsa_part.h"
#include "capture/hsa/watch.h"
#include "capture/session.h"

#define COPY_SLOTS 8192

static struct slot_ring *copy_ring;
static _Atomic uint64_t last_copy_id;
static _Atomic uint64_t copies_started;
static _Atomic bool is_closed;

/* A copy between before and after the runtime's call. */
struct copy {
	uint64_t id;
	uint64_t ns;
	uint64_t sequence;
	struct slot *slot;
	struct object *watched;
	enum record_untimed untimed; /* known already */
};

int hsa_copies_init(void)
{
	return copy_ring ? 0 : slot_ring_create(COPY_SLOTS, &copy_ring);
}

struct slot_ring *hsa_copies_ring(void)
{
	return copy_ring;
}

void hsa_copies_close(void)
{
	atomic_store_explicit(&is_closed, true, memory_order_relaxed);
}

uint64_t hsa_copies_started(void)
{
	return atomic_load_explicit(&copies_started, memory_order_relaxed);
}

static void copy_take_slot(struct copy *copy)
{
	copy->slot = slot_take(copy_ring, &copy->sequence);
	if (!copy->slot) {
		copy->untimed = RECORD_UNTIMED_NO_SLOT;
		watch_begin(copy->watched, 0);
		return;
	}
	copy->slot->subject = copy->id;
	copy->slot->submit_ns = copy->ns;
	slot_use_watched(copy->slot, SLOT_COPY, copy->watched);
	copy->untimed = watch_begin(copy->watched, slot_reference(copy_ring, copy->sequence));
	if (copy->untimed) {
		slot_cancel(copy->slot, copy->sequence);
		copy->slot = NULL;
		return;
	}
	/* Before the call: another thread may see the copy end, and use the signal again, while
	 * this one is still inside of it. */
	slot_submit(copy->slot, copy->sequence);
	hsa_monitor_wake();
}

static struct copy copy_begin(hsa_signal_t signal)
{
	struct copy copy = {0};

	if (!hsa_part_is_live() || !session_is_on())
		return copy;
	copy.id = atomic_fetch_add_explicit(&last_copy_id, 1, memory_order_relaxed) + 1;
	copy.ns = session_now_ns();
	copy.watched = watch_find(signal);
	if (copy.watched)
		copy_take_slot(&copy);
	else
		copy.untimed = RECORD_UNTIMED_FOREIGN_SIGNAL;
	return copy;
}

/* WHAT holds the call's arguments. */
static void copy_end(struct copy *copy, hsa_status_t status, enum record_copy_kind kind,
		     struct record_copy *what)
{
	struct frame_context context;

	if (!copy->id)
		return;
	if (status != HSA_STATUS_SUCCESS ||
	    atomic_load_explicit(&is_closed, memory_order_relaxed)) {
		if (copy->slot) {
			watch_cancel(copy->watched, slot_reference(copy_ring, copy->sequence));
			slot_cancel(copy->slot, copy->sequence);
		}
		return;
	}
	atomic_fetch_add_explicit(&copies_started, 1, memory_order_relaxed);
	context = frame_take();
	what->copy_id = copy->id;
	what->ns = copy->ns;
	what->cid = context.cid;
	what->scope = context.scope;
	what->ordinal = context.ordinal;
	what->tid = context.tid;
	writer_put(session_writer(), RECORD_COPY, kind, what, sizeof(*what));
	if (copy->untimed) {
		struct record_copy_done done = {.copy_id = copy->id};

		writer_put(session_writer(), RECORD_COPY_DONE, copy->untimed, &done, sizeof(done));
	}
}

hsa_status_t wrap_hsa_amd_memory_async_copy(void *dst, hsa_agent_t dst_agent, const void *src,
					    hsa_agent_t src_agent, size_t size,
					    uint32_t num_dep_signals,
					    const hsa_signal_t *dep_signals,
					    hsa_signal_t completion_signal)
{
	struct copy copy = copy_begin(completion_signal);
	hsa_status_t status =
		hsa_next.hsa_amd_memory_async_copy(dst, dst_agent, src, src_agent, size,
						   num_dep_signals, dep_signals, completion_signal);
	struct record_copy what = {
		.dst = (uint64_t)(uintptr_t)dst,
		.src = (uint64_t)(uintptr_t)src,
		.bytes = size,
		.dst_agent = dst_agent.handle,
		.src_agent = src_agent.handle,
		.completion_signal = completion_signal.handle,
	};

	copy_end(&copy, status, RECORD_COPY_LINEAR, &what);
	return status;
}

hsa_status_t wrap_hsa_amd_memory_async_copy_on_engine(void *dst, hsa_agent_t dst_agent,
						      const void *src, hsa_agent_t src_agent,
						      size_t size, uint32_t num_dep_signals,
						      const hsa_signal_t *dep_signals,
						      hsa_signal_t completion_signal,
						      uint32_t engine, bool force_copy_on_sdma)
{
	struct copy copy = copy_begin(completion_signal);
	hsa_status_t status = hsa_next.hsa_amd_memory_async_copy_on_engine(
		dst, dst_agent, src, src_agent, size, num_dep_signals, dep_signals,
		completion_signal, engine, force_copy_on_sdma);
	struct record_copy what = {
		.dst = (uint64_t)(uintptr_t)dst,
		.src = (uint64_t)(uintptr_t)src,
		.bytes = size,
		.dst_agent = dst_agent.handle,
		.src_agent = src_agent.handle,
		.completion_signal = completion_signal.handle,
	};

	copy_end(&copy, status, RECORD_COPY_LINEAR, &what);
	return status;
}

/* The runtime names one agent and a direction; the other side is the host's or the same. */
hsa_status_t
wrap_hsa_amd_memory_async_copy_rect(const hsa_pitched_ptr_t *dst, const hsa_dim3_t *dst_offset,
				    const hsa_pitched_ptr_t *src, const hsa_dim3_t *src_offset,
				    const hsa_dim3_t *range, hsa_agent_t copy_agent,
				    hsa_amd_copy_direction_t dir, uint32_t num_dep_signals,
				    const hsa_signal_t *dep_signals, hsa_signal_t completion_signal)
{
	struct copy copy = copy_begin(completion_signal);
	hsa_status_t status = hsa_next.hsa_amd_memory_async_copy_rect(
		dst, dst_offset, src, src_offset, range, copy_agent, dir, num_dep_signals,
		dep_signals, completion_signal);
	struct record_copy what = {.completion_signal = completion_signal.handle};

	if (status == HSA_STATUS_SUCCESS && dst && src && range) {
		what.dst = (uint64_t)(uintptr_t)dst->base;
		what.src = (uint64_t)(uintptr_t)src->base;
		what.bytes = (uint64_t)range->x * range->y * range->z;
		what.dst_agent = dir == hsaDeviceToHost ? 0 : copy_agent.handle;
		what.src_agent = dir == hsaHostToDevice ? 0 : copy_agent.handle;
	}
	copy_end(&copy, status, RECORD_COPY_RECT, &what);
	return status;
}
