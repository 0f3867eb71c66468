/* Names for what a program does, so that a trace can say which GPU work belongs to it.
 *
 *	dagtap_step_begin("train", step);
 *	dagtap_scope_push("forward");
 *	...launches...
 *	dagtap_scope_pop();
 *	dagtap_step_end();
 *
 * Link with libdagtap (-ldagtap; pkg-config dagtap; find_package(dagtap)). Without `dagtap record`
 * around the program the calls do nothing.
 *
 * Threading: scopes belong to the thread that opens them; any thread may call at any time, but not
 * from a signal handler. A forked child keeps its thread's open scopes.
 * Cost: one load when nothing records; else the copy of the text and one record, some tens of ns
 * (dagtap-bench scope). A thread's first push, and each doubling of its deepest stack, allocates;
 * nothing locks.
 * Errors: none are reported and none reach the program. More than 65,536 open scopes of one thread
 * are not recorded; a record that finds no room is counted in the trace (`dagtap check`).
 * Restart: when a recording has been stopped (dagtap/session.h) and another one starts, every thread
 * begins with no open scope; ids go on, so that none comes twice in a process. */
#ifndef DAGTAP_ANNOTATE_H
#define DAGTAP_ANNOTATE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- scopes ---- */

/* Opens a scope within the calling thread's innermost one: what the thread submits from here on
 * belongs to it. TEXT is UTF-8 and NUL-terminated, copied before the call returns, cut after 8192
 * bytes; NULL is taken for "". A scope that is opened before the first recording starts is part of
 * it if it is still open then.
 *
 * Returns the scope's id, unique in the process, laid out as XLA's scope range ids are: the number
 * of the calling thread (threads that push count from 1) in bits 48 to 62, a counter below; after
 * the 32,767th thread bit 63 and one counter for all. 0 without `dagtap record`, after the recording
 * has ended, beyond the depth above, and when memory is short: then the matching pop is still due. */
uint64_t dagtap_scope_push(const char *text);

/* Closes the calling thread's innermost scope of dagtap_scope_push. Without an open one: nothing. */
void dagtap_scope_pop(void);

/* ---- attributes ---- */

enum dagtap_attribute_kind {
	DAGTAP_ATTRIBUTE_INT64 = 1,
	DAGTAP_ATTRIBUTE_UINT64 = 2,
	DAGTAP_ATTRIBUTE_DOUBLE = 3,
	DAGTAP_ATTRIBUTE_TEXT = 4
};

/* A key and its value. KEY and a text are UTF-8 and NUL-terminated, and cut after 8192 bytes. */
struct dagtap_attribute {
	const char *key;
	uint32_t kind; /* enum dagtap_attribute_kind */
	union {
		int64_t int64;
		uint64_t uint64;
		double float64;
		const char *text;
	} value;
};

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

/* dagtap_scope_push with COUNT ATTRIBUTES, which are copied before the call returns and come back
 * from the trace with their types. One without a key or a text, or of another kind, is left out, and
 * so is all from the first one on that does not end within 32 KiB. Attributes may also be part of a text, as XLA writes them:
 * "name#key=value,key=value#". */
uint64_t dagtap_scope_push_with(const char *text, const struct dagtap_attribute *attributes,
				size_t count);

/* ---- steps ---- */

/* A scope for one turn of a program's main loop, a training or decoding step, which trace viewers show
 * as such. NUMBER is its attribute "step_num". Text, id and errors are dagtap_scope_push's. */
uint64_t dagtap_step_begin(const char *name, int64_t number);

/* Ends the calling thread's innermost step. Without an open one: nothing. */
void dagtap_step_end(void);

/* ---- the path ---- */

/* The ids of the calling thread's open scopes, root to leaf, into RET_IDS, of which there is room for
 * ROOM (the outermost ones are given first). Returns how many scopes are open; 0 when nothing records. */
size_t dagtap_scope_path(uint64_t *ret_ids, size_t room);

/* Puts the calling thread under a path of another thread, as dagtap_scope_path gave it there, until
 * dagtap_scope_detach: scopes that it opens and work that it submits belong to the path's leaf. The
 * path's scopes stay the other thread's, which may close them any time. COUNT 0 is a path, too. */
void dagtap_scope_attach(const uint64_t *ids, size_t count);

/* Ends the calling thread's innermost dagtap_scope_attach. Without one: nothing. */
void dagtap_scope_detach(void);

#ifdef __cplusplus
}
#endif

#endif
