/* Ranges of roctx that are open: see mark_ranges.h. */
#include "sdk/mark_ranges.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/observed.h"
#include "sdk/requests.h"
#include "sdk/time.h"

#define OPEN_MOST 65536 /* ranges of the process that are open; later ones are not told of */
#define OLD_MOST  1024	/* so many may be open before those of earlier recordings are freed */

/* A range that is open, or is being begun. */
struct range {
	struct range *older;
	uint64_t recording; /* in which it has begun */
	uint64_t id;	    /* of a process range, and the level of a thread range */
	char *message;	    /* owned; NULL: none, or no memory */
	struct observed what;
	uint64_t begin_ns;
	struct observed_state state;
};

/* The ranges of one thread, the innermost first. */
struct thread_ranges {
	struct range *open;
	struct range *current; /* of the call that the thread is inside of */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for the three below */
static struct range *process_ranges;			 /* the newest first */
static unsigned process_range_count;
static uint64_t process_range_recording; /* the last one at which older ranges were freed */

/* Its destructor frees the ranges that a thread leaves open. */
static pthread_key_t ranges_key;
static pthread_once_t ranges_once = PTHREAD_ONCE_INIT;
static bool has_key;

static void free_range(struct range *range)
{
	if (range)
		free(range->message);
	free(range);
}

static void free_ranges(struct range *newest)
{
	while (newest) {
		struct range *older = newest->older;

		free_range(newest);
		newest = older;
	}
}

static void free_thread(void *data)
{
	struct thread_ranges *ranges = data;

	free_range(ranges->current);
	free_ranges(ranges->open);
	free(ranges);
}

static void make_key(void)
{
	has_key = pthread_key_create(&ranges_key, free_thread) == 0;
}

/* NULL: no memory. */
static struct thread_ranges *own_ranges(void)
{
	struct thread_ranges *ranges;

	pthread_once(&ranges_once, make_key);
	if (!has_key)
		return NULL;
	ranges = pthread_getspecific(ranges_key);
	if (ranges)
		return ranges;
	ranges = calloc(1, sizeof(*ranges));
	if (ranges && pthread_setspecific(ranges_key, ranges) != 0) {
		free(ranges);
		return NULL;
	}
	return ranges;
}

/* Frees the one before: a tool may have left its callback, and so the call. */
static void set_current(struct thread_ranges *ranges, struct range *range)
{
	free_range(ranges->current);
	ranges->current = range;
}

/* Whether a context has the kind, started or not. */
static bool is_wanted(void)
{
	for (uint32_t i = 0; i < SDK_CONTEXTS && sdk_contexts[i].is_used; i++) {
		const struct sdk_context *context = &sdk_contexts[i];

		if (context->callbacks[SDK_CALLBACK_MARKER_CORE_RANGE_API].operations.is_on ||
		    context->buffers[SDK_BUFFER_MARKER_CORE_RANGE_API].operations.is_on)
			return true;
	}
	return false;
}

static struct observed what_of(const struct inject_mark *mark, int operation)
{
	return (struct observed){
		.cid = mark->cid,
		.parent = mark->parent,
		.tid = requests_tid(),
		.operation = operation,
		.callback = SDK_CALLBACK_MARKER_CORE_RANGE_API,
		.buffer = SDK_BUFFER_MARKER_CORE_RANGE_API,
		.request = SDK_REQUEST_MARKER_CORE_RANGE_API,
	};
}

/* Tells of the begin WHAT, whose argument is ARGUMENT. */
static void tell_begin(struct observed_state *state, struct observed what, uint64_t argument)
{
	struct sdk_mark_data data = {.size = sizeof(data), .argument = argument};

	what.payload = &data;
	observed_begin(state, &what);
}

static void tell_end(struct observed_state *state, struct observed what, uint64_t argument,
		     uint64_t result, uint64_t begin_ns, uint64_t end_ns)
{
	struct sdk_mark_data data = {.size = sizeof(data), .argument = argument, .result = result};
	struct sdk_hip_record record = {
		.start_ns = sdk_time_of(begin_ns),
		.end_ns = sdk_time_of(end_ns),
		.tid = what.tid,
	};

	what.payload = &data;
	observed_end(state, &what, (struct sdk_record_head *)&record, sizeof(record));
}

/* A mark, or roctxGetThreadId. */
static void observe_event(const struct inject_mark *mark, int operation)
{
	static _Thread_local struct observed_state state;
	uint64_t argument =
		operation == SDK_RANGE_MARK ? (uint64_t)(uintptr_t)mark->message : mark->argument;

	if (mark->end_ns) {
		tell_end(&state, what_of(mark, operation), argument, mark->result, mark->begin_ns,
			 mark->end_ns);
		return;
	}
	state.cid = 0; /* a tool may have left the callback of the last one */
	tell_begin(&state, what_of(mark, operation), argument);
}

/* The call that begins a range is entered. */
static void enter_range(const struct inject_mark *mark, int operation)
{
	struct thread_ranges *ranges = own_ranges();
	struct range *range = ranges ? calloc(1, sizeof(*range)) : NULL;

	if (!ranges)
		return;
	set_current(ranges, range);
	if (!range)
		return;
	range->what = what_of(mark, operation);
	range->message = mark->message ? strdup(mark->message) : NULL;
	range->begin_ns = mark->begin_ns;
	tell_begin(&range->state, range->what, (uint64_t)(uintptr_t)range->message);
}

/* Frees the ranges of the process that began in another recording than RECORDING: mostly, their
 * stop came while nothing was recorded. Called with the lock. */
static void free_old_ranges(uint64_t recording)
{
	struct range **at = &process_ranges;

	while (*at) {
		struct range *range = *at;

		if (range->recording == recording) {
			at = &range->older;
			continue;
		}
		*at = range->older;
		free_range(range);
		process_range_count--;
	}
}

static void open_process_range(struct range *range)
{
	bool has_room;

	pthread_mutex_lock(&lock);
	if (process_range_count >= OLD_MOST && process_range_recording != range->recording) {
		free_old_ranges(range->recording);
		process_range_recording = range->recording;
	}
	has_room = process_range_count < OPEN_MOST;
	if (has_room) {
		range->older = process_ranges;
		process_ranges = range;
		process_range_count++;
	}
	pthread_mutex_unlock(&lock);
	if (!has_room)
		free_range(range);
}

/* The same call has returned: the range is open. */
static void open_range(const struct inject_mark *mark, int operation)
{
	struct thread_ranges *ranges = own_ranges();
	struct range *range = ranges ? ranges->current : NULL;

	if (!range || range->what.cid != mark->cid)
		return;
	ranges->current = NULL;
	range->id = mark->result;
	range->recording = mark->recording;
	if (operation == SDK_RANGE_PROCESS) {
		open_process_range(range);
		return;
	}
	if (ranges->open && ranges->open->recording != range->recording) {
		free_ranges(ranges->open);
		ranges->open = NULL;
	}
	range->older = ranges->open;
	ranges->open = range;
}

/* Tells of the end of RANGE, and frees it. */
static void close_range(struct range *range, const struct inject_mark *mark)
{
	struct thread_ranges *ranges = range ? own_ranges() : NULL;

	if (!ranges) {
		free_range(range);
		return;
	}
	set_current(ranges, range);
	tell_end(&range->state, range->what, (uint64_t)(uintptr_t)range->message, range->id,
		 range->begin_ns, mark->end_ns);
	set_current(ranges, NULL);
}

/* The innermost range of the thread, which is no longer open. Where one of another recording than
 * RECORDING is the innermost, ends or begins were not told, so none of them is known to be the
 * right one. */
static struct range *take_thread_range(uint64_t recording)
{
	struct thread_ranges *ranges = own_ranges();
	struct range *range = ranges ? ranges->open : NULL;

	if (!range)
		return NULL;
	if (range->recording != recording) {
		ranges->open = NULL;
		free_ranges(range);
		return NULL;
	}
	ranges->open = range->older;
	return range;
}

static struct range *take_process_range(uint64_t id)
{
	struct range **at, *range;

	pthread_mutex_lock(&lock);
	for (at = &process_ranges; *at && (*at)->id != id; at = &(*at)->older)
		;
	range = *at;
	if (range) {
		*at = range->older;
		process_range_count--;
	}
	pthread_mutex_unlock(&lock);
	return range;
}

void mark_ranges_observe(const struct inject_mark *mark)
{
	bool is_entry = !mark->end_ns;
	int operation;

	if (!is_wanted())
		return;
	switch (mark->function) {
	case INJECT_PUSH:
	case INJECT_START:
		operation = mark->function == INJECT_PUSH ? SDK_RANGE_THREAD : SDK_RANGE_PROCESS;
		if (is_entry)
			enter_range(mark, operation);
		else
			open_range(mark, operation);
		break;
	case INJECT_POP:
		if (!is_entry)
			close_range(take_thread_range(mark->recording), mark);
		break;
	case INJECT_STOP:
		if (!is_entry)
			close_range(take_process_range(mark->argument), mark);
		break;
	default:
		observe_event(mark,
			      mark->function == INJECT_MARK ? SDK_RANGE_MARK : SDK_RANGE_THREAD_ID);
	}
}

void mark_ranges_forget_parent(void)
{
	pthread_mutex_init(&lock, NULL);
	process_ranges = NULL;
	process_range_count = 0;
}
