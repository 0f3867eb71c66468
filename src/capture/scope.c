/* Scopes: the stacks of open scopes, early ranges, and their records; see scope.h. */
#include "capture/scope.h"

#include <dagtap/annotate.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture_session.h"
#include "capture/scope_attributes.h"
#include "record/attribute.h"

#define NUMBERED_THREADS 32767 /* 15 bits of an id */
#define SHARED_POOL	 ((uint64_t)1 << 63)
#define DEPTH_MOST	 65536 /* entries of one stack */
#define RANGES_MOST	 64    /* ranges that wait for the session */

/* Entries of a stack that are no scopes of the thread: the path of another thread
 * (scope_attach). */
enum {
	/* Has the id 0; the entries below it are hidden until scope_detach. */
	PATH_ROOT = RECORD_SCOPE_NVTX + 1,
	PATH_SCOPE, /* a scope of the path */
};

/* The kind of an entry: in the low bits the record's kind; above them the NVTX domain whose pops
 * may end it. */
#define KIND_BITS      8
#define KIND_OF(scope) ((scope)->kind & ((1u << KIND_BITS) - 1))

static uint32_t nvtx_kind(uint32_t domain)
{
	return domain << KIND_BITS | RECORD_SCOPE_NVTX;
}

struct scope {
	uint64_t id;
	uint64_t ns;	  /* when it was opened */
	uint32_t body_at; /* offset in the stack's bodies */
	uint32_t body_bytes;
	uint32_t text_bytes; /* length of the text within the body */
	uint32_t kind;	     /* enum record_scope_kind and domain, or PATH_ */
};

/* A thread's open scopes and their bodies. A body is the text and the attributes as the record
 * has them; the bodies lie one after the other in the order of the scopes. Only its thread uses
 * the stack. */
struct scope_stack {
	uint64_t number;  /* the thread's number; 0: the shared pool */
	uint64_t counter; /* ids given, if it has a number */
	struct scope *scopes;
	uint32_t generation;
	uint32_t count;
	uint32_t written; /* scopes below this index are in the spool */
	uint32_t kept;	  /* scopes below this index are in the spool among the kept records */
	uint32_t capacity;
	uint32_t beyond; /* pushes that found no room; as many pops are ignored */
	char *bodies;
	uint32_t bodies_bytes;
	uint32_t bodies_capacity;
};

/* Ranges that were started before the session; they belong to no stack. */
static struct {
	pthread_mutex_t lock;
	struct early_range {
		uint64_t id;
		uint64_t ns;
		char *text;
	} ranges[RANGES_MOST];
	size_t count;
} early = {.lock = PTHREAD_MUTEX_INITIALIZER};

_Atomic uint32_t scope_generation;
__thread struct scope_leaf scope_leaf;
static __thread struct scope_stack *scope_stack __attribute__((tls_model("initial-exec")));
static _Atomic uint64_t threads_numbered;
static _Atomic uint64_t shared_counter;

/* Returns whether a scope that is opened now is, or may still become, part of a trace. */
static bool will_record(void)
{
	int state = atomic_load_explicit(&session_state, memory_order_relaxed);

	return state == SESSION_IDLE || state == SESSION_STARTING || state == SESSION_ON;
}

static void set_leaf(const struct scope_stack *stack)
{
	scope_leaf.id = stack->count ? stack->scopes[stack->count - 1].id : 0;
	scope_leaf.generation = stack->generation;
}

/* NULL: memory is short. */
static struct scope_stack *make_stack(void)
{
	struct scope_stack *stack = calloc(1, sizeof(*stack));
	uint64_t number;

	if (!stack)
		return NULL;
	number = atomic_fetch_add_explicit(&threads_numbered, 1, memory_order_relaxed) + 1;
	stack->number = number <= NUMBERED_THREADS ? number : 0;
	stack->generation = atomic_load_explicit(&scope_generation, memory_order_relaxed);
	scope_stack = stack;
	session_watch_thread();
	session_thread_numbered(stack->number);
	return stack;
}

/* Empties the stack if its session has ended. */
static void empty_if_old(struct scope_stack *stack)
{
	uint32_t generation = atomic_load_explicit(&scope_generation, memory_order_relaxed);

	if (__builtin_expect(stack->generation == generation, 1))
		return;
	stack->generation = generation;
	stack->count = stack->written = stack->kept = stack->beyond = stack->bodies_bytes = 0;
	set_leaf(stack);
}

/* Returns the calling thread's stack; NULL: it has never pushed. */
static struct scope_stack *known_stack(void)
{
	if (scope_stack)
		empty_if_old(scope_stack);
	return scope_stack;
}

/* Returns the calling thread's stack, which is made if need be; NULL: memory is short. */
static struct scope_stack *own_stack(void)
{
	struct scope_stack *stack = known_stack();

	return stack ? stack : make_stack();
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

/* BODY is the text, already cut, and the attributes after it. */
static void put_scope(struct writer *w, enum record_scope_kind kind,
		      const struct record_scope *fixed, const char *body, size_t body_bytes)
{
	const size_t header_bytes = sizeof(struct record_header);
	char *record = writer_reserve(w, RECORD_SCOPE, sizeof(*fixed) + body_bytes);

	if (!record)
		return;
	memcpy(record + header_bytes, (const char *)fixed + header_bytes,
	       sizeof(*fixed) - header_bytes);
	if (body_bytes)
		memcpy(record + sizeof(*fixed), body, body_bytes);
	writer_commit(w, record, RECORD_SCOPE, sizeof(*fixed) + body_bytes, kind);
}

/* Writes a scope that is on no stack; sets its text_bytes. */
static void put_loose(enum record_scope_kind kind, struct record_scope *scope, const char *text,
		      const struct dagtap_attribute *attributes, size_t count)
{
	struct writer *w = session_writer();
	size_t text_bytes = writer_text_bytes(strlen(text)), body_bytes = text_bytes;
	size_t attribute_bytes = attributes_bytes(attributes, count);
	char *record;

	if (attribute_bytes)
		body_bytes = record_padded((uint32_t)text_bytes) + attribute_bytes;
	record = writer_reserve(w, RECORD_SCOPE, sizeof(*scope) + body_bytes);
	if (!record)
		return;
	scope->text_bytes = text_bytes;
	memcpy(record + sizeof(scope->header), (char *)scope + sizeof(scope->header),
	       sizeof(*scope) - sizeof(scope->header));
	memcpy(record + sizeof(*scope), text, text_bytes);
	if (attribute_bytes)
		attributes_write(attributes, count,
				 record + sizeof(*scope) + body_bytes - attribute_bytes);
	writer_commit(w, record, RECORD_SCOPE, sizeof(*scope) + body_bytes, kind);
}

static void put_scope_end(struct writer *w, uint64_t id)
{
	struct record_scope_end record = {.id = id, .ns = session_now_ns()};

	writer_put(w, RECORD_SCOPE_END, 0, &record, sizeof(record));
}

/* Writes to W the scopes from index *WRITTEN on, and advances *WRITTEN. Entries of a path are
 * passed over: their scopes are the other thread's. */
static void write_from(const struct scope_stack *stack, uint32_t *written, struct writer *w)
{
	while (*written < stack->count) {
		const struct scope *scope = &stack->scopes[*written];
		struct record_scope record = {
			.id = scope->id,
			.parent = (*written)++ ? scope[-1].id : 0,
			.ns = scope->ns,
			.text_bytes = scope->text_bytes,
		};

		if (KIND_OF(scope) < PATH_ROOT)
			put_scope(w, KIND_OF(scope), &record, stack->bodies + scope->body_at,
				  scope->body_bytes);
	}
}

static void write_pending(struct scope_stack *stack, struct writer *w)
{
	write_from(stack, &stack->written, w);
}

void scope_writer_bound(void)
{
	struct scope_stack *stack = known_stack();
	struct writer *w = session_thread_writer;

	if (!stack || !w)
		return;
	stack->written = stack->kept = 0;
	write_pending(stack, w);
}

void scope_keep_open(void)
{
	/* Take the writer before reading the stack: binding to a new writer may empty the stack. */
	struct writer *w = session_writer(), *kept = writer_kept(w);
	struct scope_stack *stack = kept == w ? NULL : known_stack();

	if (stack)
		write_from(stack, &stack->kept, kept);
}

/* ---- stack ---- */

/* Grows *MEMORY to at least NEEDED elements of SIZE bytes, by doubling. Returns false beyond
 * MOST elements and when memory is short. */
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

/* Adds an entry with room for its body after the others. Returns NULL when there is no room;
 * then the matching pop is ignored. */
static struct scope *add_scope(struct scope_stack *stack, size_t body_bytes)
{
	struct scope *scope;

	if (!grow((void **)&stack->scopes, &stack->capacity, (uint64_t)stack->count + 1, DEPTH_MOST,
		  sizeof(*stack->scopes)) ||
	    !grow((void **)&stack->bodies, &stack->bodies_capacity,
		  (uint64_t)stack->bodies_bytes + body_bytes, UINT32_MAX, 1)) {
		stack->beyond++;
		return NULL;
	}
	scope = &stack->scopes[stack->count++];
	*scope = (struct scope){.body_at = stack->bodies_bytes, .body_bytes = (uint32_t)body_bytes};
	stack->bodies_bytes += scope->body_bytes;
	return scope;
}

/* Opens SCOPE, whose body is complete: gives it an id and the time, and writes it if there is a
 * spool. */
static uint64_t open_scope(struct scope_stack *stack, struct scope *scope, uint32_t kind)
{
	struct writer *w;

	scope->id = next_id(stack);
	scope->ns = session_now_ns();
	scope->kind = kind;
	set_leaf(stack);
	w = session_writer();
	if (w)
		write_pending(stack, w);
	return scope->id;
}

static uint64_t push_on(struct scope_stack *stack, uint32_t kind, const char *text,
			const struct dagtap_attribute *attributes, size_t count)
{
	uint32_t text_bytes = writer_text_bytes(text ? strlen(text) : 0);
	size_t padded_bytes = record_padded(text_bytes);
	size_t attribute_bytes = attributes_bytes(attributes, count);
	struct scope *scope =
		add_scope(stack, attribute_bytes ? padded_bytes + attribute_bytes : text_bytes);
	char *body;

	if (!scope)
		return 0;
	scope->text_bytes = text_bytes;
	body = stack->bodies + scope->body_at;
	if (text_bytes)
		memcpy(body, text, text_bytes);
	if (attribute_bytes) {
		memset(body + text_bytes, 0, padded_bytes - text_bytes);
		attributes_write(attributes, count, body + padded_bytes);
	}
	return open_scope(stack, scope, kind);
}

uint64_t scope_push_with(enum record_scope_kind kind, const char *text,
			 const struct dagtap_attribute *attributes, size_t count)
{
	struct scope_stack *stack = will_record() ? own_stack() : NULL;

	return stack ? push_on(stack, kind, text, attributes, count) : 0;
}

uint64_t scope_push(enum record_scope_kind kind, const char *text)
{
	return scope_push_with(kind, text, NULL, 0);
}

uint64_t scope_push_nvtx(uint32_t domain, const char *text,
			 const struct dagtap_attribute *attributes, size_t count)
{
	struct scope_stack *stack = will_record() ? own_stack() : NULL;

	return stack ? push_on(stack, nvtx_kind(domain), text, attributes, count) : 0;
}

uint64_t scope_step_begin(const char *name, int64_t number)
{
	struct dagtap_attribute attribute = dagtap_attribute_int64(RECORD_STEP_KEY, number);

	return scope_push_with(RECORD_SCOPE_STEP, name, &attribute, 1);
}

static uint32_t find_innermost(const struct scope_stack *stack, uint32_t kind)
{
	uint32_t i = stack->count;

	while (i-- > 0)
		if (stack->scopes[i].kind == kind)
			return i;
	return UINT32_MAX;
}

/* Returns the index that AT becomes when COUNT entries from INDEX on are removed. */
static uint32_t index_without(uint32_t at, uint32_t index, uint32_t count)
{
	if (at <= index)
		return at;
	return at - (count < at - index ? count : at - index);
}

static void remove_scopes(struct scope_stack *stack, uint32_t index, uint32_t count)
{
	struct scope *scope = &stack->scopes[index];

	stack->count -= count;
	stack->written = index_without(stack->written, index, count);
	stack->kept = index_without(stack->kept, index, count);
	memmove(scope, scope + count, (stack->count - index) * sizeof(*scope));
	stack->bodies_bytes = 0;
	if (stack->count) {
		const struct scope *last = &stack->scopes[stack->count - 1];

		stack->bodies_bytes = last->body_at + last->body_bytes;
	}
	set_leaf(stack);
}

/* Finds the scope that a pop of KIND ends: the calling thread's stack and the index on it.
 * Returns NULL when there is nothing to end. */
static struct scope_stack *find_to_end(uint32_t kind, uint32_t *ret_index)
{
	struct scope_stack *stack = known_stack();

	if (!stack)
		return NULL;
	if (stack->beyond) {
		stack->beyond--;
		return NULL;
	}
	*ret_index = find_innermost(stack, kind);
	return *ret_index == UINT32_MAX ? NULL : stack;
}

static void pop_kind(uint32_t kind)
{
	/* Take the writer before reading the stack: binding to a new writer may empty the stack. */
	struct writer *w = session_writer();
	uint32_t index;
	struct scope_stack *stack = find_to_end(kind, &index);

	if (!stack)
		return;
	if (index < stack->written)
		put_scope_end(w, stack->scopes[index].id);
	if (index < stack->kept)
		put_scope_end(writer_kept(w), stack->scopes[index].id);
	remove_scopes(stack, index, 1);
}

void scope_pop(enum record_scope_kind kind)
{
	pop_kind(kind);
}

void scope_pop_nvtx(uint32_t domain)
{
	pop_kind(nvtx_kind(domain));
}

/* ---- paths ---- */

size_t scope_path(uint64_t *ret_ids, size_t room)
{
	const struct scope_stack *stack = will_record() ? known_stack() : NULL;
	uint32_t first;
	size_t depth;

	if (!stack)
		return 0;
	first = find_innermost(stack, PATH_ROOT) + 1;
	depth = stack->count - first;
	for (size_t i = 0; i < depth && i < room; i++)
		ret_ids[i] = stack->scopes[first + i].id;
	return depth;
}

static bool add_path_scope(struct scope_stack *stack, uint64_t id, uint32_t kind)
{
	struct scope *scope = add_scope(stack, 0);

	if (!scope)
		return false;
	scope->id = id;
	scope->kind = kind;
	return true;
}

void scope_attach(const uint64_t *ids, size_t count)
{
	struct scope_stack *stack = will_record() ? own_stack() : NULL;
	uint32_t first, added = 0;

	if (!stack || !add_path_scope(stack, 0, PATH_ROOT))
		return;
	first = stack->count;
	while (added < count && add_path_scope(stack, ids[added], PATH_SCOPE))
		added++;
	/* Without room it is an empty path, whose detach finds it. The failed entry's count is
	 * taken back, so that no later pop is ignored for it. */
	if (added < count) {
		stack->beyond--;
		remove_scopes(stack, first, added);
	}
	set_leaf(stack);
}

void scope_detach(void)
{
	uint32_t index, count = 1;
	struct scope_stack *stack = find_to_end(PATH_ROOT, &index);

	if (!stack)
		return;
	while (index + count < stack->count && stack->scopes[index + count].kind == PATH_SCOPE)
		count++;
	remove_scopes(stack, index, count);
}

/* ---- ranges and marks ---- */

static void keep_early_range(uint64_t id, const char *text)
{
	pthread_mutex_lock(&early.lock);
	if (early.count < RANGES_MOST)
		early.ranges[early.count++] =
			(struct early_range){id, session_now_ns(), strdup(text)};
	pthread_mutex_unlock(&early.lock);
	/* The session may have started and emptied the list before the range was added. */
	if (session_is_on())
		scope_session_started();
}

/* Returns true when the range was still waiting for the session; then it is not recorded. */
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
	pthread_mutex_lock(&early.lock);
	for (size_t i = 0; i < early.count; i++) {
		const struct early_range *range = &early.ranges[i];

		put_loose(RECORD_SCOPE_RANGE,
			  &(struct record_scope){.id = range->id, .ns = range->ns},
			  range->text ? range->text : "", NULL, 0);
		free(range->text);
	}
	early.count = 0;
	pthread_mutex_unlock(&early.lock);
}

/* Writes a scope that begins now, within the innermost one. */
static void put_loose_now(enum record_scope_kind kind, uint64_t id, const char *text,
			  const struct dagtap_attribute *attributes, size_t count)
{
	struct record_scope scope = {.id = id, .parent = scope_current(), .ns = session_now_ns()};

	put_loose(kind, &scope, text, attributes, count);
}

/* A range that waits for the session keeps only its text, not its attributes. */
static void start_range(uint64_t id, const char *text, const struct dagtap_attribute *attributes,
			size_t count)
{
	text = text ? text : "";
	if (session_writer())
		put_loose_now(RECORD_SCOPE_RANGE, id, text, attributes, count);
	else
		keep_early_range(id, text);
}

void scope_range_start_as(uint64_t id, const char *text)
{
	if (will_record())
		start_range(id, text, NULL, 0);
}

uint64_t scope_range_start_with(const char *text, const struct dagtap_attribute *attributes,
				size_t count)
{
	struct scope_stack *stack = will_record() ? own_stack() : NULL;
	uint64_t id;

	if (!stack)
		return 0;
	id = next_id(stack);
	start_range(id, text, attributes, count);
	return id;
}

uint64_t scope_range_start(const char *text)
{
	return scope_range_start_with(text, NULL, 0);
}

void scope_range_stop(uint64_t id)
{
	if (session_is_on() || !drop_early_range(id))
		put_scope_end(session_writer(), id);
}

/* A mark before the session is not kept: there is no GPU work yet that it could be related to. */
void scope_mark_with(const char *text, const struct dagtap_attribute *attributes, size_t count)
{
	struct scope_stack *stack = session_is_on() ? own_stack() : NULL;

	if (stack)
		put_loose_now(RECORD_SCOPE_MARK, next_id(stack), text ? text : "", attributes,
			      count);
}

void scope_mark(const char *text)
{
	scope_mark_with(text, NULL, 0);
}

/* ---- life of the thread and the process ---- */

void scope_session_ended(void)
{
	atomic_fetch_add_explicit(&scope_generation, 1, memory_order_relaxed);
}

void scope_thread_ended(void)
{
	struct scope_stack *stack = scope_stack;

	if (!stack)
		return;
	scope_stack = NULL;
	scope_leaf.id = 0;
	free(stack->scopes);
	free(stack->bodies);
	free(stack);
}

void scope_forget_parent(void)
{
	struct scope_stack *stack = scope_stack;

	early.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	if (stack)
		stack->written = stack->kept = 0;
}
