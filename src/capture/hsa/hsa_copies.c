/* The wrappers of the asynchronous copy functions, and the counts of copies. */
#include "capture/hsa/hsa_copies.h"

#include "capture/capture_session.h"
#include "capture/frame.h"
#include "capture/hsa/app_signal.h"
#include "capture/hsa/completion.h"
#include "capture/hsa/hsa_calls.h"
#include "capture/hsa/hsa_state.h"
#include "capture/hsa/hsa_wrappers.h"
#include "capture/hsa/monitor_state.h"

#define COPY_SLOTS 8192

static struct slot_ring *copy_ring;
static _Atomic uint64_t last_copy_id;
/* Counted before the runtime is called, and subtracted again if it refuses the copy. */
static _Atomic uint64_t copies_entered;
static _Atomic uint64_t copies_left;	/* counted when the runtime has returned with success */
static _Atomic uint64_t copies_started; /* recorded */
static uint64_t left_before, started_before; /* their values when this recording began */
static _Atomic bool is_closed;		     /* copies are not recorded */

/* A copy while its wrapper runs. */
struct copy {
	uint64_t id; /* 0: not recorded */
	uint64_t ns; /* before the runtime's call, host clock */
	uint64_t sequence;
	struct slot *slot;	     /* NULL: not timed */
	struct object *watched;	     /* the entry of its completion signal, or NULL */
	enum record_untimed untimed; /* why it is not timed, if that is known before the call */
	uint32_t session;	     /* its number before the call */
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

void hsa_copies_open(void)
{
	left_before = atomic_load_explicit(&copies_left, memory_order_relaxed);
	started_before = atomic_load_explicit(&copies_started, memory_order_relaxed);
	atomic_store_explicit(&is_closed, false, memory_order_relaxed);
}

uint64_t hsa_copies_started(void)
{
	return atomic_load_explicit(&copies_started, memory_order_relaxed) - started_before;
}

uint64_t hsa_copies_untraced(void)
{
	uint64_t started = atomic_load_explicit(&copies_started, memory_order_acquire);

	return atomic_load_explicit(&copies_entered, memory_order_relaxed) - left_before -
	       (started - started_before);
}

static void copies_enter(uint64_t count)
{
	atomic_fetch_add_explicit(&copies_entered, count, memory_order_relaxed);
}

/* Takes a completion slot and begins to watch the signal, or sets `untimed`. */
static void copy_take_slot(struct copy *copy)
{
	copy->slot = slot_take(copy_ring, &copy->sequence);
	if (!copy->slot) {
		copy->untimed = RECORD_UNTIMED_NO_SLOT;
		app_signal_begin_use(copy->watched, 0);
		return;
	}
	copy->slot->subject = copy->id;
	copy->slot->submit_ns = copy->ns;
	atomic_store_explicit(&copy->slot->source, &completion_copy, memory_order_relaxed);
	completion_copy.begin(copy->slot, copy->watched);
	copy->untimed =
		app_signal_begin_use(copy->watched, slot_reference(copy_ring, copy->sequence));
	if (copy->untimed) {
		slot_cancel(copy->slot, copy->sequence);
		copy->slot = NULL;
		return;
	}
	/* Submitted before the runtime's call: another thread may see the copy end and use the
	 * signal again while this thread is still inside the call. */
	slot_submit(copy->slot, copy->sequence);
	hsa_monitor_wake();
}

static uint64_t copy_new_id(void)
{
	return atomic_fetch_add_explicit(&last_copy_id, 1, memory_order_relaxed) + 1;
}

/* The device waits for the signals that a copy depends on, so they are never borrowed. */
static void copy_depends(uint32_t count, const hsa_signal_t *signals)
{
	if (!hsa_is_live() || !session_is_on())
		return;
	for (uint32_t i = 0; signals && i < count; i++)
		app_signal_depend(signals[i]);
}

static struct copy copy_begin(hsa_signal_t signal)
{
	struct copy copy = {0};

	copies_enter(1);
	if (!hsa_is_live() || !session_is_on())
		return copy;
	copy.session = session_current_number();
	copy.id = copy_new_id();
	copy.ns = session_now_ns();
	copy.watched = app_signal_find(signal);
	if (copy.watched)
		copy_take_slot(&copy);
	else
		copy.untimed = RECORD_UNTIMED_FOREIGN_SIGNAL;
	return copy;
}

/* Records the copy after the runtime's call, or cancels its slot if the call failed or the
 * recording has ended meanwhile. WHAT holds the call's arguments; the other fields are filled
 * here. */
static void copy_end(struct copy *copy, hsa_status_t status, enum record_copy_kind kind,
		     struct record_copy *what)
{
	struct frame_context context;

	if (status != HSA_STATUS_SUCCESS)
		atomic_fetch_sub_explicit(&copies_entered, 1, memory_order_relaxed);
	else
		atomic_fetch_add_explicit(&copies_left, 1, memory_order_relaxed);
	if (!copy->id)
		return;
	if (status != HSA_STATUS_SUCCESS || copy->session != session_current_number() ||
	    atomic_load_explicit(&is_closed, memory_order_relaxed)) {
		if (copy->slot) {
			app_signal_cancel_use(copy->watched,
					      slot_reference(copy_ring, copy->sequence));
			slot_cancel(copy->slot, copy->sequence);
		}
		return;
	}
	/* Release: pairs with the acquire in hsa_copies_untraced, which then sees copies_entered
	 * with this copy, so that its difference is not negative. */
	atomic_fetch_add_explicit(&copies_started, 1, memory_order_release);
	context = frame_take();
	frame_count(context.cid, FRAME_COPY);
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

	copy_depends(num_dep_signals, dep_signals);
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

	copy_depends(num_dep_signals, dep_signals);
	copy_end(&copy, status, RECORD_COPY_LINEAR, &what);
	return status;
}

/* The call names one agent and a direction; the other side is the host's, or the same agent's. */
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
	copy_depends(num_dep_signals, dep_signals);
	copy_end(&copy, status, RECORD_COPY_RECT, &what);
	return status;
}

/* ---- batches ---- */

/* Operations of a batch that are timed; their state is kept on the stack. */
#define BATCH_MOST 64

/* Describes the part of a copy that goes to destination ENTRY; a copy that is no broadcast has
 * one. */
static struct record_copy batch_part(const struct hsa_batch_copy *copy, uint32_t entry)
{
	const hsa_agent_t *agents = (const hsa_agent_t *)(uintptr_t)copy->dst_agent;
	const uint64_t *addresses = (const uint64_t *)(uintptr_t)copy->dst;
	bool is_list = copy->type == HSA_BATCH_COPY_BROADCAST;

	return (struct record_copy){
		.src = copy->src,
		.src_agent = copy->src_agent.handle,
		.dst = is_list ? addresses[entry] : copy->dst,
		.dst_agent = is_list ? agents[entry].handle : copy->dst_agent,
		.bytes = copy->bytes,
		.completion_signal = copy->completion_signal.handle,
	};
}

static uint32_t batch_parts(const struct hsa_batch_copy *copy)
{
	return copy->type == HSA_BATCH_COPY_BROADCAST ? copy->entry_count : 1;
}

/* Records COUNT operations. The signal of an operation is decremented once, however many
 * destinations it has: the first part gets the times, the other parts are untimed because they
 * share its signal. */
static void batch_record(const struct hsa_batch_copy *copies, uint32_t count, struct copy *begun,
			 hsa_status_t status)
{
	for (uint32_t i = 0; i < count; i++) {
		struct record_copy what = batch_part(&copies[i], 0);

		copy_end(&begun[i], status, RECORD_COPY_LINEAR, &what);
		for (uint32_t part = 1; part < batch_parts(&copies[i]); part++) {
			struct copy other = {.untimed = RECORD_UNTIMED_SHARED_SIGNAL,
					     .ns = begun[i].ns,
					     .session = begun[i].session};

			if (begun[i].id)
				other.id = copy_new_id();
			what = batch_part(&copies[i], part);
			copy_end(&other, status, RECORD_COPY_LINEAR, &what);
		}
	}
}

/* The operations of a batch behind the first BATCH_MOST are recorded as untimed. */
hsa_status_t wrap_hsa_amd_memory_async_batch_copy(const struct hsa_batch_copy *copies,
						  uint32_t count, uint32_t num_dep_signals,
						  const hsa_signal_t *dep_signals)
{
	struct copy begun[BATCH_MOST];
	uint32_t kept = count < BATCH_MOST ? count : BATCH_MOST;
	hsa_status_t status;

	for (uint32_t i = 0; copies && i < count; i++) {
		copies_enter(batch_parts(&copies[i]) - (i < kept));
		if (i < kept)
			begun[i] = copy_begin(copies[i].completion_signal);
		else
			app_signal_use_untimed(copies[i].completion_signal);
	}
	status = hsa_next.hsa_amd_memory_async_batch_copy(copies, count, num_dep_signals,
							  dep_signals);
	copy_depends(num_dep_signals, dep_signals);
	for (uint32_t i = 0; copies && i < count; i += i < kept ? kept : 1) {
		struct copy late = {.ns = session_now_ns(),
				    .untimed = RECORD_UNTIMED_NO_SLOT,
				    .session = session_current_number()};

		if (i < kept) {
			batch_record(copies, kept, begun, status);
			continue;
		}
		late.id = hsa_is_live() && session_is_on() ? copy_new_id() : 0;
		batch_record(&copies[i], 1, &late, status);
	}
	return status;
}
