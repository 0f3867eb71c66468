/* Names for what a program does, so that a trace can say which GPU work belongs to it.
 *
 *	dagtap_scope_push("decode step");
 *	...launches...
 *	dagtap_scope_pop();
 *
 * Link with libdagtap (-ldagtap; pkg-config dagtap; find_package(dagtap)). Without `dagtap record`
 * around the program the calls do nothing.
 *
 * Threading: scopes belong to the thread that pushes them; any thread may call at any time, but not
 * from a signal handler. A forked child keeps its thread's open scopes.
 * Cost: one load when nothing records; else the copy of the text and one record, some tens of ns. A
 * thread's first push, and each doubling of its deepest stack, allocates.
 * Errors: none are reported and none reach the program. More than 65,536 open scopes of one thread
 * are not recorded; a record that finds no room is counted in the trace (`dagtap check`). */
#ifndef DAGTAP_ANNOTATE_H
#define DAGTAP_ANNOTATE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens a scope within the calling thread's innermost one: what the thread submits from here on
 * belongs to it. TEXT is UTF-8 and NUL-terminated, copied before the call returns, cut after 8192
 * bytes; NULL is taken for "". A scope that is opened before the recording starts is part of it if
 * it is still open then.
 *
 * Returns the scope's id, unique in the process, laid out as XLA's scope range ids are: the number
 * of the calling thread (threads that push count from 1) in bits 48 to 62, a counter below; after
 * the 32,767th thread bit 63 and one counter for all. 0 without `dagtap record`, after the recording
 * has ended, beyond the depth above, and when memory is short: then the matching pop is still due. */
uint64_t dagtap_scope_push(const char *text);

/* Closes the calling thread's innermost scope. Without an open one: nothing. */
void dagtap_scope_pop(void);

#ifdef __cplusplus
}
#endif

#endif
