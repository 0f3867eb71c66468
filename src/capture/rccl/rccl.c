/* The capture source of RCCL: entering and leaving calls, numbering operations; see rccl.h and
 * rccl_wrap.h. */
#include "capture/rccl/rccl.h"

#include <stdio.h>
#include <string.h>

#include "capture/rccl/communicator.h"
#include "capture/rccl/rccl_wrap.h"
#include "capture/scope.h"
#include "capture/symbol.h"
#include "record/writer.h"

static void *_Atomic nexts[DOOR_COUNT][RCCL_COUNT];

struct table_door rccl_table = {
	.name = "rccl.table",
	.major_first = 2,
	.major_last = 2,
	.nexts = {nexts[DOOR_TABLE], nexts[DOOR_TABLE + 1]},
	.state = {.lock = PTHREAD_MUTEX_INITIALIZER},
};

static struct call_counter counter = {.is_shared = true};
static uint64_t entered_before, left_before; /* when the session started */
/* The number of the session whose trace has the API_NAME records. */
static _Atomic uint32_t named_in;

static size_t index_of(enum rccl_function function)
{
	return (size_t)function - RCCL_NONE;
}

void *rccl_next_at(unsigned int door, enum rccl_function function)
{
	static const char *const sonames[] = {"librccl.so.1", "libnccl.so.2", "librccl.so", NULL};
	void *next = atomic_load_explicit(&nexts[door][index_of(function)], memory_order_relaxed);

	if (next || door != DOOR_SYMBOL)
		return next;
	next = symbol_next(rccl_functions[index_of(function)].symbol, sonames);
	if (!next)
		next = symbol_anywhere(rccl_functions[index_of(function)].symbol);
	atomic_store_explicit(&nexts[DOOR_SYMBOL][index_of(function)], next, memory_order_relaxed);
	return next;
}

/* Starts the first session. Returns whether a session is on. */
static bool wake(void)
{
	/* The program has stopped the session, and only its own call starts the next one. */
	if (atomic_load_explicit(&session_state, memory_order_relaxed) >= SESSION_DRAINING)
		return false;
	session_add_source(&rccl_source);
	return session_start();
}

/* Writes the API_NAME records with a session's first call, since most processes make none. */
static void write_names(uint32_t session)
{
	if (atomic_load_explicit(&named_in, memory_order_relaxed) == session ||
	    atomic_exchange(&named_in, session) == session)
		return;
	for (uint32_t function = RCCL_NONE + 1; function < RCCL_FUNCTION_COUNT; function++) {
		const char *text = rccl_functions[index_of(function)].text;
		size_t bytes = strlen(text);
		struct record_api_name record = {
			.domain = RECORD_DOMAIN_RCCL,
			.text_bytes = writer_text_bytes(bytes),
		};

		writer_put_text(session_writer(), RECORD_API_NAME, function, &record,
				sizeof(record), text, bytes);
	}
}

/* Asks RCCL for the rank once, so that it does not matter which call made the communicator. */
static int32_t rank_of(struct communicator *communicator)
{
	int32_t rank = atomic_load_explicit(&communicator->rank_and_1, memory_order_relaxed) - 1;
	int (*get)(const void *, int *) = rccl_next_at(DOOR_TABLE, RCCL_ncclCommUserRank);
	struct frame mute = {0};

	if (!get)
		get = rccl_next_at(DOOR_SYMBOL, RCCL_ncclCommUserRank);
	if (rank != RCCL_RANK_UNKNOWN || !get)
		return rank;
	frame_push(&mute);
	if (get((const void *)communicator->handle, &rank) == 0)
		atomic_store_explicit(&communicator->rank_and_1, rank + 1, memory_order_relaxed);
	else
		rank = RCCL_RANK_UNKNOWN;
	frame_pop(&mute);
	return rank;
}

static void count_operation(struct rccl_call *call, void *comm)
{
	struct communicator *communicator = communicator_use((uintptr_t)comm);

	if (!communicator)
		return;
	call->sequence =
		1 + atomic_fetch_add_explicit(&communicator->operations, 1, memory_order_relaxed);
	call->rank = rank_of(communicator);
}

bool rccl_enter(struct rccl_call *call, enum rccl_function function, unsigned int door, void *comm,
		bool is_operation)
{
	uint32_t session = session_on_number();

	if (!session && wake())
		session = session_on_number();
	if (!session_may_record() || (frame_top && !frame_top->cid) ||
	    (door != DOOR_SYMBOL && frame_is_under_way(function)))
		return false;
	*call = (struct rccl_call){.rank = RCCL_RANK_UNKNOWN};
	if (session) {
		call_count(&counter, &counter.entered);
		write_names(session);
		call->frame.session = session;
	}
	if (is_operation)
		count_operation(call, comm);
	else if (function == RCCL_ncclCommDestroy || function == RCCL_ncclCommAbort)
		communicator_forget((uintptr_t)comm);
	call->frame.function = function;
	call->frame.comes_again = door == DOOR_SYMBOL;
	call->frame.scope = scope_current();
	call->frame.cid = session_next_cid();
	frame_push(&call->frame);
	call->frame.begin_ns = session_now_ns();
	return true;
}

void rccl_leave(struct rccl_call *call, int result, uint32_t word_count, const uint64_t *words)
{
	frame_pop(&call->frame);
	if (call->frame.session)
		frame_write(&call->frame, result, word_count, words, &counter);
}

static uint64_t calls(void)
{
	return atomic_load_explicit(&counter.entered, memory_order_relaxed) - entered_before;
}

static void start(void)
{
	left_before = atomic_load_explicit(&counter.left, memory_order_relaxed);
	entered_before = atomic_load_explicit(&counter.entered, memory_order_relaxed);
	table_tell(&rccl_table);
}

static void tick(void)
{
	if (calls())
		session_witness(WITNESS_RCCL_CALLS, calls());
}

static void stop(void)
{
	/* LEFT is read before ENTERED: a call that returns meanwhile counts as open, and the
	 * number of open calls is never negative. */
	uint64_t returned = atomic_load_explicit(&counter.left, memory_order_relaxed) - left_before;
	uint64_t count = calls();

	if (!count)
		return;
	session_witness(WITNESS_RCCL_OPEN, count - returned);
	session_witness(WITNESS_RCCL_CALLS, count);
}

static void child(void)
{
	atomic_store_explicit(&counter.entered, 0, memory_order_relaxed);
	atomic_store_explicit(&counter.left, 0, memory_order_relaxed);
	table_reset(&rccl_table);
	communicator_forget_all();
}

const struct capture_source rccl_source = {
	.name = "rccl",
	.start = start,
	.tick = tick,
	.stop = stop,
	.child = child,
};
