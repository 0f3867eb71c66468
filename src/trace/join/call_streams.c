/* Which stream each call works on, and which stream a handle stands for at that time.
 *
 * Handles are reused, so calls are taken in the order of their correlation ids. A create call gives
 * its handle to a new stream; a destroy call ends it. While a create call of another thread is
 * running, calls that began before its return mean the previous stream of the handle. HIP's special
 * handles are in record/stream_handles.h: 0 and the legacy one are the null stream. For functions
 * whose names end in _spt, which programs built with -fgpu-default-stream=per-thread call, 0 and no
 * handle mean the calling thread's own default stream.
 *
 * Between two calls that create or destroy streams, handles do not change what they stand for. So
 * the calls are taken in rounds. First threads share the calls of a round and find the streams that
 * have rows. Then one thread takes, in order, those calls that need a new row, and from the first
 * call that creates or destroys a stream on all calls of the round. */
#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/numbers.h"
#include "base/workers.h"
#include "record/stream_handles.h"
#include "trace/args.h"
#include "trace/load/call_streams.h"
#include "trace/row_table.h"

#define CALLS_PER_PART	1024
#define PARTS_PER_ROUND 256
#define CALLS_PER_ROUND (CALLS_PER_PART * PARTS_PER_ROUND)

#define SEEN_BITS 6

/* hipStreamCreateWithFlags */
#define FLAG_NONBLOCKING 1

/* A stream, before and after it gets a row. */
struct stream_object {
	uint32_t stream; /* TRACE_NONE: created, but not used yet, so without a row */
	enum trace_stream_kind kind;
};

/* What a handle stands for. */
struct stream_life {
	int64_t made_ns; /* when the call returned that created `now` */
	struct stream_object now;
	struct stream_object before; /* what calls mean that began before made_ns */
};

/* The lives of all handles. The rows of destroyed handles stay and are used again. */
struct stream_lives {
	/* of pairs: handle, and the owner of a per-thread stream, else TRACE_NONE */
	struct numbers handles;
	struct stream_life *rows; /* by number of the handle */
	uint32_t rows_count;
};

/* What the threads leave of their part of a round. */
struct round_part {
	uint32_t *waiting; /* calls whose stream has no row yet, in order */
	uint32_t waiting_count;
	/* The first call that creates or destroys a stream; later calls of the part are not looked
	 * at. The end of the part if there is none. */
	uint32_t change;
};

/* A handle that was looked up, with its owner, and its number. NUMBERS_NONE: the slot is free. */
struct seen_handle {
	struct numbers_pair pair;
	uint32_t number;
};

struct stream_walk {
	struct process_load *load;
	struct stream_lives lives;
	struct round_part parts[PARTS_PER_ROUND];
	uint32_t first, end; /* the calls of the round, from first.calls */
};

static struct stream_life *find_life(struct stream_lives *lives, uint64_t handle, uint32_t thread)
{
	uint32_t number = numbers_get(&lives->handles, handle, thread);
	struct stream_life *life;

	if (number < lives->rows_count)
		return &lives->rows[number];
	life = number == NUMBERS_NONE ? NULL : trace_add(lives, rows);
	if (life)
		*life = (struct stream_life){
			.made_ns = INT64_MIN,
			.now.stream = TRACE_NONE,
			.before.stream = TRACE_NONE,
		};
	return life;
}

/* Kind of the stream that CALL creates. */
static enum trace_stream_kind made_kind(const struct trace *trace, const struct trace_call *call)
{
	uint64_t flags;

	if (args_find(trace, &trace->apis[call->api], "flags") == TRACE_NONE)
		return TRACE_STREAM_BLOCKING;
	if (!args_get(trace, call, "flags", &flags))
		return TRACE_STREAM_UNKNOWN;
	return flags & FLAG_NONBLOCKING ? TRACE_STREAM_NONBLOCKING : TRACE_STREAM_BLOCKING;
}

/* Only per-thread streams have an owner: the thread. */
static uint32_t owner_of(uint64_t handle, const struct trace_call *call)
{
	return handle == STREAM_HANDLE_PER_THREAD ? call->thread : TRACE_NONE;
}

static int use_stream(struct stream_walk *walk, enum stream_role role, uint64_t handle,
		      struct trace_call *call)
{
	struct process_load *load = walk->load;
	struct stream_object *object;
	struct stream_life *life;

	if (handle == 0 || handle == STREAM_HANDLE_LEGACY) {
		if (role == STREAM_USE)
			call->stream = load->first.streams;
		return 0;
	}
	life = find_life(&walk->lives, handle, owner_of(handle, call));
	if (!life)
		return -ENOMEM;
	if (role == STREAM_CREATE) {
		life->before = life->now;
		life->now = (struct stream_object){TRACE_NONE, made_kind(load->trace, call)};
		life->made_ns = call->end_ns;
		return 0;
	}
	object = call->begin_ns < life->made_ns ? &life->before : &life->now;
	if (handle == STREAM_HANDLE_PER_THREAD)
		object->kind = TRACE_STREAM_PER_THREAD;
	if (object->stream == TRACE_NONE &&
	    stream_add(load, handle, object->kind, &object->stream) < 0)
		return -ENOMEM;
	call->stream = object->stream;
	if (role == STREAM_DESTROY)
		*object = (struct stream_object){TRACE_NONE, TRACE_STREAM_UNKNOWN};
	return 0;
}

static enum stream_role role_of(const struct process_load *load, const struct trace_call *call)
{
	return load->call_notes.stream_apis[call->api - load->first.apis].role;
}

/* Sets the stream of the call RANK in its turn. */
static int take_call(struct stream_walk *walk, uint32_t rank)
{
	struct process_load *load = walk->load;
	struct trace_call *call = &load->trace->calls[load->first.calls + rank];
	uint64_t handle = call_kept_handle(call);
	enum stream_role role;

	if (handle == STREAM_HANDLE_NONE)
		return 0;
	role = role_of(load, call);
	return role == STREAM_USE || call->result == 0 ? use_stream(walk, role, handle, call) : 0;
}

/* numbers_find with the cache SEEN: the calls of all threads are mixed, so handles alternate. */
static uint32_t find_number(const struct stream_walk *walk, uint64_t handle, uint32_t owner,
			    struct seen_handle *seen)
{
	seen += hash_mix(handle, owner) >> (64 - SEEN_BITS);
	if (seen->number == NUMBERS_NONE || seen->pair.high != handle || seen->pair.low != owner) {
		seen->pair = (struct numbers_pair){handle, owner};
		seen->number = numbers_find(&walk->lives.handles, handle, owner);
	}
	return seen->number;
}

/* The row of the stream that CALL uses, as the handles are at the beginning of the round, or
 * TRACE_NONE. */
static uint32_t find_stream(const struct stream_walk *walk, uint64_t handle,
			    const struct trace_call *call, struct seen_handle *seen)
{
	const struct stream_life *life;
	uint32_t number;

	if (handle == 0 || handle == STREAM_HANDLE_LEGACY)
		return walk->load->first.streams;
	number = find_number(walk, handle, owner_of(handle, call), seen);
	if (number == NUMBERS_NONE)
		return TRACE_NONE;
	life = &walk->lives.rows[number];
	return call->begin_ns < life->made_ns ? life->before.stream : life->now.stream;
}

static int find_part(void *stream_walk, unsigned worker, uint32_t number)
{
	struct stream_walk *walk = stream_walk;
	struct process_load *load = walk->load;
	struct round_part *part = &walk->parts[number];
	uint32_t first = walk->first + number * CALLS_PER_PART;
	uint32_t end = walk->end - first < CALLS_PER_PART ? walk->end : first + CALLS_PER_PART;
	struct seen_handle seen[1 << SEEN_BITS];

	for (int i = 0; i < 1 << SEEN_BITS; i++)
		seen[i].number = NUMBERS_NONE;
	part->change = end;
	for (uint32_t rank = first; rank < end; rank++) {
		struct trace_call *call = &load->trace->calls[load->first.calls + rank];
		uint64_t handle = call_kept_handle(call);
		uint32_t stream, *waiting;

		if (handle == STREAM_HANDLE_NONE)
			continue;
		if (role_of(load, call) != STREAM_USE) {
			if (call->result != 0)
				continue;
			part->change = rank;
			break;
		}
		stream = find_stream(walk, handle, call, seen);
		if (stream != TRACE_NONE) {
			call->stream = stream;
			continue;
		}
		waiting =
			table_add((void **)&part->waiting, &part->waiting_count, sizeof(*waiting));
		if (!waiting)
			return -ENOMEM;
		*waiting = rank;
	}
	return 0;
}

/* Takes the calls of a round that the threads have left. */
static int take_round(struct stream_walk *walk, uint32_t part_count)
{
	int err = 0;

	for (uint32_t i = 0; i < part_count && err == 0; i++) {
		const struct round_part *part = &walk->parts[i];
		uint64_t end = walk->first + (i + 1ull) * CALLS_PER_PART;

		for (uint32_t k = 0; k < part->waiting_count && err == 0; k++)
			err = take_call(walk, part->waiting[k]);
		if (part->change == (end < walk->end ? end : walk->end))
			continue;
		for (uint32_t rank = part->change; rank < walk->end && err == 0; rank++)
			err = take_call(walk, rank);
		break;
	}
	return err;
}

static int walk_round(struct stream_walk *walk)
{
	uint32_t part_count = (walk->end - walk->first - 1) / CALLS_PER_PART + 1;
	int err = workers_run(WORKERS_ALL, part_count, find_part, walk);

	if (err == 0)
		err = take_round(walk, part_count);
	for (uint32_t i = 0; i < PARTS_PER_ROUND; i++) {
		free(walk->parts[i].waiting);
		walk->parts[i] = (struct round_part){0};
	}
	return err;
}

int call_streams_load(struct process_load *load)
{
	struct stream_walk walk = {.load = load};
	uint32_t count = load->raw.cids.count;
	int err = 0;

	while (walk.end < count && err == 0) {
		/* The first round is short: no stream has a row yet. */
		uint32_t most = walk.end == 0 ? CALLS_PER_PART : CALLS_PER_ROUND;

		walk.first = walk.end;
		walk.end = count - walk.first < most ? count : walk.first + most;
		err = walk_round(&walk);
	}
	numbers_release(&walk.lives.handles);
	free(walk.lives.rows);
	return err;
}
