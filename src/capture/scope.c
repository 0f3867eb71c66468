#include "capture/scope.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "capture/session.h"

#define NUMBERED_THREADS 32767
#define SHARED_POOL	 ((uint64_t)1 << 63)
#define DEPTH_MOST	 65536
#define RANGES_MOST	 64

struct scope {
	uint64_t id;
	uint64_t ns;
	uint32_t text_at; /* in the stack's texts */
	uint32_t text_bytes;
	enum record_scope_kind kind;
};

/* Open scopes, and their texts one after the other in the same order. */
struct scope_stack {
	uint64_t number; /* 0: the shared pool */
	uint64_t counter;
	struct scope *scopes;
	uint32_t count;
	uint32_t written; /* scopes below this index are in the spool */
	uint32_t capacity;
	uint32_t beyond; /* pushes that found no room: their pops are swallowed */
	char *texts;
	uint32_t texts_bytes;
	uint32_t texts_capacity;
};

/* Ranges that were started before the session: they belong to no stack. */
static struct {
	pthread_mutex_t lock;
	struct early_range {
		uint64_t id;
		uint64_t ns;
		char *text;
	} ranges[RANGES_MOST];
	size_t count;
} early = {.lock = PTHREAD_MUTEX_INITIALIZER};

__thread uint64_t scope_top;
static __thread struct scope_stack *scope_stack __attribute__((tls_model("initial-exec")));
static _Atomic uint64_t threads_numbered;
static _Atomic uint64_t shared_counter;

static bool will_record(void)
{
	int state = atomic_load_explicit(&session_state, memory_order_relaxed);

	return state == SESSION_IDLE || state == SESSION_STARTING || state == SESSION_ON;
}

static struct scope_stack *own_stack(void)
{
	struct scope_stack *stack = scope_stack;
	uint64_t number;

	if (stack)
		return stack;
	stack = calloc(1, sizeof(*stack));
	if (!stack)
		return NULL;
	number = atomic_fetch_add_explicit(&threads_numbered, 1, memory_order_relaxed) + 1;
	stack->number = number <= NUMBERED_THREADS ? number : 0;
	scope_stack = stack;
	session_watch_thread();
	session_thread_numbered(stack->number);
	return stack;
}

uint64_t scope_number(void)
{
	return scope_stack ? scope_stack->number : 0;
}

static uint64_t next_id(struct scope_stack *stack)
{
	if (stack->number)
		return stack->number << 48 | ++stack->counter;
	return SHARED_POOL |
	       (atomic_fetch_add_explicit(&shared_counter, 1, memory_order_relaxed) + 1);
}

/* ---- records ---- */

static void put_scope(struct writer *w, enum record_scope_kind kind, uint64_t id, uint64_t parent,
		      uint64_t ns, const char *text, size_t length)
{
	struct record_scope record = {
		.id = id, .parent = parent, .ns = ns, .text_bytes = writer_text_bytes(length)};

	writer_put_text(w, RECORD_SCOPE, kind, &record, sizeof(record), text, length);
}

static void put_scope_end(struct writer *w, uint64_t id)
{
	struct record_scope_end record = {.id = id, .ns = session_now_ns()};

	writer_put(w, RECORD_SCOPE_END, 0, &record, sizeof(record));
}

void scope_write_pending(void)
{
	struct scope_stack *stack = scope_stack;
	struct writer *w = session_thread_writer;

	if (!stack || !w)
		return;
	while (stack->written < stack->count) {
		const struct scope *scope = &stack->scopes[stack->written];
		uint64_t parent = stack->written++ ? scope[-1].id : 0;

		put_scope(w, scope->kind, scope->id, parent, scope->ns,
			  stack->texts + scope->text_at, scope->text_bytes);
	}
}

/* ---- stack ---- */

static bool grow(void **memory, uint32_t *capacity, uint64_t needed, uint64_t most, size_t size)
{
	uint64_t wanted = *capacity ? *capacity : 64;
	void *larger;

	if (needed <= *capacity)
		return true;
	while (wanted < needed)
		wanted *= 2;
	if (wanted > most)
		return false;
	larger = realloc(*memory, wanted * size);
	if (!larger)
		return false;
	*memory = larger;
	*capacity = (uint32_t)wanted;
	return true;
}

static bool make_room(struct scope_stack *stack, uint32_t text_bytes)
{
	return grow((void **)&stack->scopes, &stack->capacity, (uint64_t)stack->count + 1,
		    DEPTH_MOST, sizeof(*stack->scopes)) &&
	       grow((void **)&stack->texts, &stack->texts_capacity,
		    (uint64_t)stack->texts_bytes + text_bytes, UINT32_MAX, 1);
}

uint64_t scope_push(enum record_scope_kind kind, const char *text)
{
	struct scope_stack *stack = will_record() ? own_stack() : NULL;
	uint32_t text_bytes = writer_text_bytes(text ? strlen(text) : 0);
	struct scope *scope;

	if (!stack)
		return 0;
	if (!make_room(stack, text_bytes)) {
		stack->beyond++;
		return 0;
	}
	scope = &stack->scopes[stack->count++];
	*scope = (struct scope){.id = next_id(stack),
				.ns = session_now_ns(),
				.kind = kind,
				.text_at = stack->texts_bytes,
				.text_bytes = text_bytes};
	if (text_bytes)
		memcpy(stack->texts + stack->texts_bytes, text, text_bytes);
	stack->texts_bytes += text_bytes;
	scope_top = scope->id;
	if (session_writer())
		scope_write_pending();
	return scope->id;
}

static uint32_t find_innermost(const struct scope_stack *stack, enum record_scope_kind kind)
{
	uint32_t i = stack->count;

	while (i-- > 0)
		if (stack->scopes[i].kind == kind)
			return i;
	return UINT32_MAX;
}

static void remove_scope(struct scope_stack *stack, uint32_t index)
{
	struct scope *scope = &stack->scopes[index];

	stack->count--;
	if (index < stack->written)
		stack->written--;
	memmove(scope, scope + 1, (stack->count - index) * sizeof(*scope));
	if (stack->count) {
		const struct scope *last = &stack->scopes[stack->count - 1];

		stack->texts_bytes = last->text_at + last->text_bytes;
		scope_top = last->id;
	} else {
		stack->texts_bytes = 0;
		scope_top = 0;
	}
}

void scope_pop(enum record_scope_kind kind)
{
	struct scope_stack *stack = scope_stack;
	uint32_t index;

	if (!stack)
		return;
	if (stack->beyond) {
		stack->beyond--;
		return;
	}
	index = find_innermost(stack, kind);
	if (index == UINT32_MAX)
		return;
	if (index < stack->written)
		put_scope_end(session_writer(), stack->scopes[index].id);
	remove_scope(stack, index);
}

/* ---- ranges and marks ---- */

static void keep_early_range(uint64_t id, const char *text)
{
	pthread_mutex_lock(&early.lock);
	if (early.count < RANGES_MOST)
		early.ranges[early.count++] =
			(struct early_range){id, session_now_ns(), strdup(text)};
	pthread_mutex_unlock(&early.lock);
	/* The session may have started, and emptied the list, in between. */
	if (session_is_on())
		scope_session_started();
}

/* True when the range was still waiting: then the trace never hears of it. */
static bool drop_early_range(uint64_t id)
{
	bool found = false;

	pthread_mutex_lock(&early.lock);
	for (size_t i = 0; i < early.count && !found; i++) {
		found = early.ranges[i].id == id;
		if (!found)
			continue;
		free(early.ranges[i].text);
		early.ranges[i] = early.ranges[--early.count];
	}
	pthread_mutex_unlock(&early.lock);
	return found;
}

void scope_session_started(void)
{
	struct writer *w = session_writer();

	pthread_mutex_lock(&early.lock);
	for (size_t i = 0; i < early.count; i++) {
		const struct early_range *range = &early.ranges[i];
		const char *text = range->text ? range->text : "";

		put_scope(w, RECORD_SCOPE_RANGE, range->id, 0, range->ns, text, strlen(text));
		free(range->text);
	}
	early.count = 0;
	pthread_mutex_unlock(&early.lock);
}

void scope_range_start_as(uint64_t id, const char *text)
{
	struct writer *w = session_writer();

	if (!will_record())
		return;
	text = text ? text : "";
	if (w)
		put_scope(w, RECORD_SCOPE_RANGE, id, scope_current(), session_now_ns(), text,
			  strlen(text));
	else
		keep_early_range(id, text);
}

uint64_t scope_range_start(const char *text)
{
	struct scope_stack *stack = will_record() ? own_stack() : NULL;
	uint64_t id;

	if (!stack)
		return 0;
	id = next_id(stack);
	scope_range_start_as(id, text);
	return id;
}

void scope_range_stop(uint64_t id)
{
	if (session_is_on() || !drop_early_range(id))
		put_scope_end(session_writer(), id);
}

/* One that comes before the session started is not kept: there is no GPU work that it could be
 * beside. */
void scope_mark(const char *text)
{
	struct writer *w = session_is_on() ? session_writer() : NULL;
	struct scope_stack *stack = w ? own_stack() : NULL;

	if (!stack)
		return;
	text = text ? text : "";
	put_scope(w, RECORD_SCOPE_MARK, next_id(stack), scope_current(), session_now_ns(), text,
		  strlen(text));
}

/* ---- life of the thread and the process ---- */

void scope_thread_ended(void)
{
	struct scope_stack *stack = scope_stack;

	if (!stack)
		return;
	scope_stack = NULL;
	scope_top = 0;
	free(stack->scopes);
	free(stack->texts);
	free(stack);
}

void scope_forget_parent(void)
{
	struct scope_stack *stack = scope_stack;

	early.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	if (stack)
		stack->written = 0;
}
