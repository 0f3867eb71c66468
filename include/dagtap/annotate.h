/* Names for what a program does, so that a trace can say which GPU work belongs to it.
 *
 *	dagtap_scope_push("decode step");
 *	...launches...
 *	dagtap_scope_pop();
 *
 * Link with libdagtap (-ldagtap). Without `dagtap record` around the program the calls do nothing.
 *
 * Threading: scopes belong to the thread that pushes them; any thread may call at any time.
 * Cost: one load when nothing records; else the copy of the text, some tens of ns.
 * Errors: none are reported. More than 65,536 open scopes of one thread are not recorded; a record that
 * finds no room is counted in the trace. */
#ifndef DAGTAP_ANNOTATE_H
#define DAGTAP_ANNOTATE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens a scope within the calling thread's innermost one. TEXT is UTF-8, copied, cut after 8192 bytes; NULL is
 * taken for "". Returns the scope's id, unique in the process: the calling thread's number in bits
 * 48 to 62, a counter below (bit 63 set: one counter for all threads beyond the 32,767th); 0 when
 * nothing records. */
uint64_t dagtap_scope_push(const char *text);

/* Closes the calling thread's innermost scope. Without an open one: nothing. */
void dagtap_scope_pop(void);

#ifdef __cplusplus
}
#endif

#endif
