/* Scopes: named intervals that a program opens and closes, so that a trace shows which GPU work
 * belongs to which part of the program.
 *
 *	dagtap_step_begin("train", step);
 *	dagtap_scope_push("forward");
 *	...launches...
 *	dagtap_scope_pop();
 *	dagtap_step_end();
 *
 * Link with libdagtap (-ldagtap; pkg-config dagtap; find_package(dagtap)). In a program that does
 * not run under `dagtap record` the calls do nothing.
 *
 * Threading: a scope belongs to the thread that opens it. Any thread may call any function at any
 * time, but not from a signal handler. A forked child keeps the open scopes of the thread that
 * forked.
 * Cost: one load when nothing is recorded; otherwise a copy of the text and one record, some tens
 * of ns (measured by `dagtap-bench scope`). A thread's first push allocates memory, and so does
 * each push that doubles the size of its stack of scopes. No call takes a lock.
 * Errors: no call reports an error, and no error disturbs the program. Scopes beyond 65,536 open
 * ones of one thread are not recorded. A record for which there is no room is dropped and counted
 * in the trace (`dagtap check` shows the count).
 * Restart: when a recording was stopped (dagtap/session.h) and another one starts, every thread
 * begins with no open scope. The ids continue, so that no id is used twice in a process. */
#ifndef DAGTAP_ANNOTATE_H
#define DAGTAP_ANNOTATE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- scopes ---- */

/* Opens a scope inside the calling thread's innermost open scope. GPU work that the thread submits
 * from then on belongs to the new scope. TEXT is UTF-8 and NUL-terminated; it is copied before the
 * call returns and cut after 8192 bytes. NULL means "". A scope that is opened before the first
 * recording starts is part of that recording if it is still open at its start.
 *
 * Returns the scope's id, which is unique in the process and has the layout of XLA's scope range
 * ids: the number of the calling thread in bits 48 to 62 (threads are numbered from 1 in the order
 * of their first push) and a counter in the bits below. Threads after the 32,767th share one
 * counter, and their ids have bit 63 set. Returns 0 without `dagtap record`, after the recording
 * has ended, beyond 65,536 open scopes, and when memory is short. The caller must call the matching
 * dagtap_scope_pop in each of these cases as well. */
uint64_t dagtap_scope_push(const char *text);

/* Closes the calling thread's innermost scope that dagtap_scope_push or dagtap_scope_push_with
 * opened. Does nothing when there is none. */
void dagtap_scope_pop(void);

/* ---- attributes ---- */

enum dagtap_attribute_kind {
	DAGTAP_ATTRIBUTE_INT64 = 1,
	DAGTAP_ATTRIBUTE_UINT64 = 2,
	DAGTAP_ATTRIBUTE_DOUBLE = 3,
	DAGTAP_ATTRIBUTE_TEXT = 4
};

/* A key and a value. The key and a text value are UTF-8 and NUL-terminated; each is cut after 8192
 * bytes. The strings stay the caller's. */
struct dagtap_attribute {
	const char *key;
	uint32_t kind; /* enum dagtap_attribute_kind: the member of VALUE that is set */
	union {
		int64_t int64;
		uint64_t uint64;
		double float64;
		const char *text;
	} value;
};

/* The four functions below make an attribute of one kind. They copy no strings: KEY, and a text
 * VALUE, must stay valid until the attribute was used. */
static inline struct dagtap_attribute dagtap_attribute_int64(const char *key, int64_t value)
{
	struct dagtap_attribute attribute;

	attribute.key = key;
	attribute.kind = DAGTAP_ATTRIBUTE_INT64;
	attribute.value.int64 = value;
	return attribute;
}

static inline struct dagtap_attribute dagtap_attribute_uint64(const char *key, uint64_t value)
{
	struct dagtap_attribute attribute;

	attribute.key = key;
	attribute.kind = DAGTAP_ATTRIBUTE_UINT64;
	attribute.value.uint64 = value;
	return attribute;
}

static inline struct dagtap_attribute dagtap_attribute_double(const char *key, double value)
{
	struct dagtap_attribute attribute;

	attribute.key = key;
	attribute.kind = DAGTAP_ATTRIBUTE_DOUBLE;
	attribute.value.float64 = value;
	return attribute;
}

static inline struct dagtap_attribute dagtap_attribute_text(const char *key, const char *value)
{
	struct dagtap_attribute attribute;

	attribute.key = key;
	attribute.kind = DAGTAP_ATTRIBUTE_TEXT;
	attribute.value.text = value;
	return attribute;
}

/* As dagtap_scope_push, with COUNT ATTRIBUTES. They are copied before the call returns, and the
 * trace keeps their types. An attribute with a NULL key, a NULL text or an unknown kind is left
 * out. All attributes together may take 32 KiB: the first one that exceeds this limit and all that
 * follow are left out. Attributes may also be part of the text, in XLA's notation:
 * "name#key=value,key=value#". */
uint64_t dagtap_scope_push_with(const char *text, const struct dagtap_attribute *attributes,
				size_t count);

/* ---- steps ---- */

/* Opens a scope for one iteration of the program's main loop, for instance a training or decoding
 * step. Trace viewers show it as a step. NUMBER becomes the attribute "step_num". NAME, the result
 * and the errors are those of dagtap_scope_push; close the step with dagtap_step_end. */
uint64_t dagtap_step_begin(const char *name, int64_t number);

/* Closes the calling thread's innermost step. Does nothing when there is none. */
void dagtap_step_end(void);

/* ---- the path ---- */

/* Writes the ids of the calling thread's open scopes into RET_IDS, from the outermost to the
 * innermost, at most ROOM of them. Returns how many scopes are open, which may be more than ROOM;
 * 0 when nothing is recorded. */
size_t dagtap_scope_path(uint64_t *ret_ids, size_t room);

/* Attaches the calling thread to the path of another thread, until dagtap_scope_detach. IDS and
 * COUNT are what dagtap_scope_path returned on the other thread; they are copied. Scopes that the
 * calling thread opens, and work that it submits, then belong to the last scope of the path. The
 * scopes of the path still belong to the other thread, which may close them at any time. A path
 * with COUNT 0 is valid: the thread is then outside of all scopes. */
void dagtap_scope_attach(const uint64_t *ids, size_t count);

/* Ends the calling thread's innermost dagtap_scope_attach. Does nothing when there is none. */
void dagtap_scope_detach(void);

#ifdef __cplusplus
}
#endif

#endif
