/* The stacks of open scopes; see scope_stack.h. */
#include "capture/scope_stack.h"

#include <dagtap/annotate.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/table.h"
#include "capture/scope_attributes.h"
#include "capture/scope_record.h"
#include "capture/texts.h"
#include "record/attribute.h"

#define NUMBERED_THREADS 32767 /* 15 bits of an id */
#define SHARED_POOL	 ((uint64_t)1 << 63)
#define DEPTH_MOST	 65536 /* entries of one stack */

/* Entries of a stack that are no scopes of the thread: the path of another thread
 * (scope_attach). */
enum {
	/* Has the id 0; the entries below it are hidden until scope_detach. */
	PATH_ROOT = RECORD_SCOPE_NVTX + 1,
	PATH_SCOPE, /* a scope of the path */
};

/* The record's kind, or PATH_. */
#define KIND_OF(scope) ((scope)->kind & ((1u << SCOPE_KIND_BITS) - 1))

struct scope {
	uint64_t id;
	uint64_t ns;	  /* when it was opened */
	uint32_t body_at; /* offset in the stack's bodies */
	uint32_t body_bytes;
	uint32_t text_bytes; /* length of the text within the body */
	uint32_t kind;	     /* enum record_scope_kind and domain, or PATH_ */
	struct text *shared; /* the text, if scopes share it; then there is no body */
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
	size_t room;	  /* scopes that fit */
	uint32_t beyond;  /* pushes that found no room; as many pops are ignored */
	char *bodies;
	uint32_t bodies_bytes;
	size_t bodies_room;
};

_Atomic uint32_t scope_generation;
__thread struct scope_leaf scope_leaf;
static __thread struct scope_stack *scope_stack __attribute__((tls_model("initial-exec")));
static _Atomic uint64_t threads_numbered;
static _Atomic uint64_t shared_counter;

static void set_leaf(const struct scope_stack *stack)
{
	scope_leaf.id = stack->count ? stack->scopes[stack->count - 1].id : 0;
	scope_leaf.generation = stack->generation;
}

struct scope_stack *scope_stack_create(void)
{
	struct scope_stack *stack = calloc(1, sizeof(*stack));
	uint64_t number;

	if (!stack)
		return NULL;
	number = atomic_fetch_add_explicit(&threads_numbered, 1, memory_order_relaxed) + 1;
	stack->number = number <= NUMBERED_THREADS ? number : 0;
	stack->generation = atomic_load_explicit(&scope_generation, memory_order_relaxed);
	scope_stack = stack;
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

struct scope_stack *scope_stack_known(void)
{
	if (scope_stack)
		empty_if_old(scope_stack);
	return scope_stack;
}

uint64_t scope_stack_number(void)
{
	return scope_stack ? scope_stack->number : 0;
}

uint64_t scope_stack_next_id(struct scope_stack *stack)
{
	if (stack->number)
		return stack->number << 48 | ++stack->counter;
	return SHARED_POOL |
	       (atomic_fetch_add_explicit(&shared_counter, 1, memory_order_relaxed) + 1);
}

/* ---- records ---- */

static void write_scope(const struct scope_stack *stack, const struct scope *scope, uint64_t parent,
			struct writer *w)
{
	const struct record_scope record = {
		.id = scope->id,
		.parent = parent,
		.ns = scope->ns,
		.text_bytes = scope->text_bytes,
	};

	if (scope->shared)
		scope_record_put_shared(w, KIND_OF(scope), &record, scope->shared);
	else
		scope_record_put(w, KIND_OF(scope), &record, stack->bodies + scope->body_at,
				 scope->body_bytes);
}

/* Writes to W the scopes from index *WRITTEN on, and advances *WRITTEN. Entries of a path are
 * passed over: their scopes are the other thread's. */
static void write_from(const struct scope_stack *stack, uint32_t *written, struct writer *w)
{
	while (*written < stack->count) {
		const struct scope *scope = &stack->scopes[*written];
		uint64_t parent = (*written)++ ? scope[-1].id : 0;

		if (KIND_OF(scope) < PATH_ROOT)
			write_scope(stack, scope, parent, w);
	}
}

void scope_stack_write(struct scope_stack *stack, struct writer *w)
{
	write_from(stack, &stack->written, w);
}

void scope_stack_write_kept(struct scope_stack *stack, struct writer *kept)
{
	write_from(stack, &stack->kept, kept);
}

void scope_stack_writer_bound(struct writer *w)
{
	struct scope_stack *stack = scope_stack_known();

	if (!stack)
		return;
	stack->written = stack->kept = 0;
	scope_stack_write(stack, w);
}

/* ---- push and pop ---- */

/* Makes room for NEEDED elements of SIZE bytes. False beyond MOST elements and when memory is
 * short. */
static bool has_room(void **memory, size_t *room, uint64_t needed, uint64_t most, size_t size)
{
	return needed <= most && table_reserve(memory, room, needed, size) == 0;
}

/* Adds an entry with room for its body after the others. Returns NULL when there is no room;
 * then the matching pop is ignored. */
static struct scope *add_scope(struct scope_stack *stack, size_t body_bytes)
{
	struct scope *scope;

	if (!has_room((void **)&stack->scopes, &stack->room, (uint64_t)stack->count + 1, DEPTH_MOST,
		      sizeof(*stack->scopes)) ||
	    !has_room((void **)&stack->bodies, &stack->bodies_room,
		      (uint64_t)stack->bodies_bytes + body_bytes, UINT32_MAX, 1)) {
		stack->beyond++;
		return NULL;
	}
	scope = &stack->scopes[stack->count++];
	*scope = (struct scope){.body_at = stack->bodies_bytes, .body_bytes = (uint32_t)body_bytes};
	stack->bodies_bytes += scope->body_bytes;
	return scope;
}

/* Gives the entry that was added last its id, its time and its kind. Returns the id. */
static uint64_t open_scope(struct scope_stack *stack, struct scope *scope, uint32_t kind)
{
	scope->id = scope_stack_next_id(stack);
	scope->ns = clock_now_ns();
	scope->kind = kind;
	set_leaf(stack);
	return scope->id;
}

uint64_t scope_stack_push_shared(struct scope_stack *stack, uint32_t kind, struct text *text)
{
	struct scope *scope = add_scope(stack, 0);

	if (!scope)
		return 0;
	scope->shared = text;
	return open_scope(stack, scope, kind);
}

uint64_t scope_stack_push(struct scope_stack *stack, uint32_t kind, const char *text,
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
	struct scope_stack *stack = scope_stack_known();

	if (!stack)
		return NULL;
	if (stack->beyond) {
		stack->beyond--;
		return NULL;
	}
	*ret_index = find_innermost(stack, kind);
	return *ret_index == UINT32_MAX ? NULL : stack;
}

const char *scope_stack_innermost(uint32_t kind, size_t *ret_bytes)
{
	const struct scope_stack *stack = scope_stack_known();
	uint32_t index = stack && !stack->beyond ? find_innermost(stack, kind) : UINT32_MAX;
	const struct scope *scope;

	if (index == UINT32_MAX)
		return NULL;
	scope = &stack->scopes[index];
	*ret_bytes = scope->shared ? scope->shared->bytes : scope->text_bytes;
	return scope->shared ? scope->shared->text : stack->bodies + scope->body_at;
}

void scope_stack_pop(uint32_t kind, struct writer *w)
{
	uint32_t index;
	struct scope_stack *stack = find_to_end(kind, &index);

	if (!stack)
		return;
	if (index < stack->written)
		scope_record_put_end(w, stack->scopes[index].id);
	if (index < stack->kept)
		scope_record_put_end(writer_kept(w), stack->scopes[index].id);
	remove_scopes(stack, index, 1);
}

/* ---- paths ---- */

size_t scope_stack_path(const struct scope_stack *stack, uint64_t *ret_ids, size_t room)
{
	uint32_t first = find_innermost(stack, PATH_ROOT) + 1;
	size_t depth = stack->count - first;

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

void scope_stack_attach(struct scope_stack *stack, const uint64_t *ids, size_t count)
{
	uint32_t first, added = 0;

	if (!add_path_scope(stack, 0, PATH_ROOT))
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

void scope_stack_detach(void)
{
	uint32_t index, count = 1;
	struct scope_stack *stack = find_to_end(PATH_ROOT, &index);

	if (!stack)
		return;
	while (index + count < stack->count && stack->scopes[index + count].kind == PATH_SCOPE)
		count++;
	remove_scopes(stack, index, count);
}

/* ---- life of the session, the thread and the process ---- */

void scope_stack_session_ended(void)
{
	atomic_fetch_add_explicit(&scope_generation, 1, memory_order_relaxed);
}

void scope_stack_thread_ended(void)
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

void scope_stack_forget_parent(void)
{
	struct scope_stack *stack = scope_stack;

	if (stack)
		stack->written = stack->kept = 0;
}
