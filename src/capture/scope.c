/* Scopes of the session: opens and ends them and writes their records; see scope.h. */
#include "capture/scope.h"

#include <dagtap/annotate.h>
#include <stdbool.h>
#include <string.h>

#include "capture/capture_session.h"
#include "capture/capture_switch.h"
#include "capture/early_range.h"
#include "capture/scope_record.h"
#include "capture/texts.h"
#include "record/attribute.h"

static uint32_t nvtx_kind(uint32_t domain)
{
	return domain << SCOPE_KIND_BITS | RECORD_SCOPE_NVTX;
}

/* Returns whether a scope that is opened now is, or may still become, part of a trace. */
static bool will_record(void)
{
	int state = atomic_load_explicit(&session_state, memory_order_relaxed);

	return state == SESSION_IDLE || state == SESSION_STARTING || state == SESSION_ON ||
	       (state != SESSION_OFF && switch_watches_scope());
}

/* Returns the calling thread's writer; NULL between two recordings, where scopes are kept for the
 * next one. */
static struct writer *writer_now(void)
{
	int state = atomic_load_explicit(&session_state, memory_order_relaxed);

	if (switch_watches_scope() && (state == SESSION_STOPPED || state == SESSION_DRAINING))
		return NULL;
	return session_writer();
}

/* Whether TEXT is a scope that starts the recording. */
static bool is_watched(const char *text)
{
	return switch_watches_scope() && text && switch_is_scope(text, strlen(text));
}

/* Returns the calling thread's stack, which is made if need be; NULL: memory is short. */
static struct scope_stack *own_stack(void)
{
	struct scope_stack *stack = scope_stack_known();

	if (stack)
		return stack;
	stack = scope_stack_create();
	if (stack) {
		session_watch_thread();
		session_thread_numbered(scope_stack_number());
	}
	return stack;
}

void scope_keep_open(void)
{
	/* Take the writer before reading the stack: binding to a new writer may empty the stack. */
	struct writer *w = session_writer(), *kept = writer_kept(w);
	struct scope_stack *stack = kept == w ? NULL : scope_stack_known();

	if (stack)
		scope_stack_write_kept(stack, kept);
}

/* ---- push and pop ---- */

/* What a scope is named: its text with attributes, or an NVTX text that scopes share. */
struct naming {
	const char *text;
	const struct dagtap_attribute *attributes;
	size_t count;
	struct text *shared; /* NULL: text and attributes are this scope's own */
};

static uint64_t push_named(struct scope_stack *stack, uint32_t kind, const struct naming *naming)
{
	return naming->shared ? scope_stack_push_shared(stack, kind, naming->shared)
			      : scope_stack_push(stack, kind, naming->text, naming->attributes,
						 naming->count);
}

/* Opens the scope and writes it if there is a spool. */
static uint64_t push(uint32_t kind, const struct naming *naming)
{
	struct scope_stack *stack = will_record() ? own_stack() : NULL;
	bool begins = stack && is_watched(naming->text);
	struct writer *w;
	uint64_t id;

	if (begins)
		switch_scope_begins();
	id = stack ? push_named(stack, kind, naming) : 0;
	if (begins && !id)
		switch_scope_ends();
	w = id ? writer_now() : NULL;
	if (w)
		scope_stack_write(stack, w);
	return id;
}

static void pop(uint32_t kind)
{
	size_t bytes = 0;
	const char *text = switch_watches_scope() ? scope_stack_innermost(kind, &bytes) : NULL;
	bool ends = text && switch_is_scope(text, bytes);

	scope_stack_pop(kind, writer_now());
	if (ends)
		switch_scope_ends();
}

uint64_t scope_push_with(enum record_scope_kind kind, const char *text,
			 const struct dagtap_attribute *attributes, size_t count)
{
	return push(kind, &(struct naming){text, attributes, count, NULL});
}

uint64_t scope_push(enum record_scope_kind kind, const char *text)
{
	return scope_push_with(kind, text, NULL, 0);
}

uint64_t scope_push_nvtx(uint32_t domain, const char *text,
			 const struct dagtap_attribute *attributes, size_t count)
{
	return push(nvtx_kind(domain), &(struct naming){text, attributes, count, NULL});
}

uint64_t scope_push_shared(uint32_t domain, struct text *text)
{
	return push(nvtx_kind(domain), &(struct naming){.text = text->text, .shared = text});
}

uint64_t scope_step_begin(const char *name, int64_t number)
{
	struct dagtap_attribute attribute = dagtap_attribute_int64(RECORD_STEP_KEY, number);

	return scope_push_with(RECORD_SCOPE_STEP, name, &attribute, 1);
}

void scope_pop(enum record_scope_kind kind)
{
	pop(kind);
}

void scope_pop_nvtx(uint32_t domain)
{
	pop(nvtx_kind(domain));
}

/* ---- paths ---- */

size_t scope_path(uint64_t *ret_ids, size_t room)
{
	const struct scope_stack *stack = will_record() ? scope_stack_known() : NULL;

	return stack ? scope_stack_path(stack, ret_ids, room) : 0;
}

void scope_attach(const uint64_t *ids, size_t count)
{
	struct scope_stack *stack = will_record() ? own_stack() : NULL;

	if (stack)
		scope_stack_attach(stack, ids, count);
}

void scope_detach(void)
{
	scope_stack_detach();
}

/* ---- ranges and marks ---- */

/* Writes a scope that begins now, within the innermost one. */
static void put_loose_now(enum record_scope_kind kind, uint64_t id, const char *text,
			  const struct dagtap_attribute *attributes, size_t count)
{
	struct record_scope scope = {
		.header.tag = kind, .id = id, .parent = scope_current(), .ns = session_now_ns()};

	scope_record_put_loose(session_writer(), &scope, text, attributes, count);
}

/* A range that waits for the session keeps only its text, not its attributes. */
static void start_range(uint64_t id, const char *text, const struct dagtap_attribute *attributes,
			size_t count)
{
	text = text ? text : "";
	if (is_watched(text))
		switch_range_begins(id);
	if (writer_now()) {
		put_loose_now(RECORD_SCOPE_RANGE, id, text, attributes, count);
		return;
	}
	early_range_keep(id, text);
	/* The session may have started and emptied the list before the range was added. */
	if (session_is_on())
		early_ranges_write(session_writer());
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
	id = scope_stack_next_id(stack);
	start_range(id, text, attributes, count);
	return id;
}

uint64_t scope_range_start(const char *text)
{
	return scope_range_start_with(text, NULL, 0);
}

void scope_range_stop(uint64_t id)
{
	if (session_is_on() || !early_range_drop(id))
		scope_record_put_end(writer_now(), id);
	if (switch_watches_scope())
		switch_range_ends(id);
}

/* A mark before the session is not kept: there is no GPU work yet that it could be related to. */
void scope_mark_with(const char *text, const struct dagtap_attribute *attributes, size_t count)
{
	struct scope_stack *stack = session_is_on() ? own_stack() : NULL;

	if (stack)
		put_loose_now(RECORD_SCOPE_MARK, scope_stack_next_id(stack), text ? text : "",
			      attributes, count);
}

void scope_mark(const char *text)
{
	scope_mark_with(text, NULL, 0);
}
