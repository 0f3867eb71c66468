/* The capture source of RCCL and NCCL: entering and leaving calls, numbering operations; see rccl.h
 * and rccl_wrap.h. */
#include "capture/rccl/rccl.h"

#include <string.h>
#include <unistd.h>

#include "capture/rccl/communicator.h"
#include "capture/rccl/rccl_wrap.h"
#include "capture/scope.h"
#include "capture/symbol.h"
#include "record/writer.h"

_Static_assert(RCCL_NONE + 1 == RECORD_RCCL_FUNCTION_FIRST &&
		       RCCL_FUNCTION_COUNT <= RECORD_CUDA_FUNCTION_FIRST,
	       "the first of the lists is in the generated header");

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

static void *ask_with(enum rccl_function function)
{
	void *get = rccl_next_at(DOOR_TABLE, function);

	return get ? get : rccl_next_at(DOOR_SYMBOL, function);
}

/* Asks for COMMUNICATOR's rank and number of ranks, which are not known if nobody saw it made. */
static void ask_rank(struct communicator *communicator)
{
	int (*get_rank)(const void *, int *) = ask_with(RCCL_ncclCommUserRank);
	int (*get_ranks)(const void *, int *);
	const void *handle = (const void *)communicator->handle;
	struct frame mute = {0};
	int rank, ranks;

	if (!get_rank)
		return;
	frame_push(&mute);
	if (get_rank(handle, &rank) == 0) {
		get_ranks = ask_with(RCCL_ncclCommCount);
		if (get_ranks && get_ranks(handle, &ranks) == 0)
			atomic_store_explicit(&communicator->ranks, ranks, memory_order_relaxed);
		atomic_store_explicit(&communicator->rank_and_1, rank + 1, memory_order_release);
	}
	frame_pop(&mute);
}

static void count_operation(struct rccl_call *call, void *comm, enum rccl_work work)
{
	struct communicator *communicator = communicator_use((uintptr_t)comm);

	if (!communicator)
		return;
	call->sequence =
		1 + atomic_fetch_add_explicit(work == RCCL_COLLECTIVE ? &communicator->collectives
								      : &communicator->transfers,
					      1, memory_order_relaxed);
	/* Pairs with the release of the rank. Asked once, so that it does not matter which call
	 * made the communicator. */
	if (atomic_load_explicit(&communicator->rank_and_1, memory_order_acquire) == 0)
		ask_rank(communicator);
	call->of.rank = atomic_load_explicit(&communicator->rank_and_1, memory_order_acquire) - 1;
	call->of.ranks = atomic_load_explicit(&communicator->ranks, memory_order_relaxed);
	call->of.id = atomic_load_explicit(&communicator->id, memory_order_relaxed);
}

/* ncclCommInitAll: the ranks of one communicator, all in this process. */
static void made_all(const uint64_t *words)
{
	void *const *comms = (void *const *)(uintptr_t)words[ARG_ncclCommInitAll_comms];
	int32_t ranks = (int32_t)words[ARG_ncclCommInitAll_ndev];
	/* No other communicator is made with this first handle at this time. */
	struct {
		uint64_t pid, ns, handle;
	} of = {(uint64_t)getpid(), session_now_ns(), comms ? (uintptr_t)comms[0] : 0};
	uint64_t id = communicator_id(&of, sizeof(of));

	for (int32_t rank = 0; comms && rank < ranks; rank++)
		communicator_made((uintptr_t)comms[rank], id, rank, ranks);
}

/* Notes the communicators that a call of FUNCTION has made. The ranks of those that are made of
 * others are asked for later. */
static void note_made(uint32_t function, int result, const uint64_t *words)
{
#define WORD(name, argument) words[ARG_##name##_##argument]
#define MADE_BY_ID(name, id)                                                                       \
	communicator_made(WORD(name, newcomm), WORD(name, id), (int32_t)WORD(name, myrank),        \
			  (int32_t)WORD(name, nranks))
	uint64_t id;

	switch (function) {
	/* NOLINTNEXTLINE(bugprone-branch-clone): the words' places may be equal, by chance */
	case RCCL_ncclCommInitRank:
		MADE_BY_ID(ncclCommInitRank, commId);
		break;
	case RCCL_ncclCommInitRankConfig:
		MADE_BY_ID(ncclCommInitRankConfig, commId);
		break;
	case RCCL_ncclCommInitRankScalable:
		MADE_BY_ID(ncclCommInitRankScalable, commIds);
		break;
	case RCCL_ncclCommInitAll:
		if (result == 0)
			made_all(words);
		break;
	case RCCL_ncclCommSplit:
		id = communicator_split(WORD(ncclCommSplit, comm), (int)WORD(ncclCommSplit, color));
		communicator_made(WORD(ncclCommSplit, newcomm), id, RCCL_RANK_UNKNOWN, 0);
		break;
	case RCCL_ncclCommShrink:
		id = communicator_split(WORD(ncclCommShrink, comm), 0);
		communicator_made(WORD(ncclCommShrink, newcomm), id, RCCL_RANK_UNKNOWN, 0);
		break;
	default:
		break;
	}
#undef MADE_BY_ID
#undef WORD
}

bool rccl_enter(struct rccl_call *call, enum rccl_function function, unsigned int door, void *comm,
		enum rccl_work work)
{
	uint32_t session = session_on_number();

	if (!session && wake())
		session = session_on_number();
	if (!session_may_record() || (frame_top && !frame_top->cid) ||
	    (door != DOOR_SYMBOL && frame_is_under_way(function)))
		return false;
	*call = (struct rccl_call){.of.rank = RCCL_RANK_UNKNOWN};
	if (session) {
		call_count(&counter, &counter.entered);
		write_names(session);
		call->frame.session = session;
	}
	if (work != RCCL_NO_OPERATION)
		count_operation(call, comm, work);
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

static const char *text_of(const struct rccl_call *call)
{
	return rccl_functions[index_of(call->frame.function)].text;
}

void rccl_tell_entry(struct rccl_call *call, const uint64_t *args)
{
	call_observe_entry(&call->frame, text_of(call), NULL, args);
	call->frame.begin_ns = session_now_ns();
}

void rccl_leave(struct rccl_call *call, int result, uint32_t word_count, const uint64_t *words)
{
	frame_pop(&call->frame);
	frame_take_counted(&call->frame);
	note_made(call->frame.function, result, words);
	if (call_is_observed())
		call_observe_return(&call->frame, text_of(call), NULL, result);
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
