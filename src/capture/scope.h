/* Scopes: opens and ends scopes, ranges and marks in the session (dagtap/annotate.h, roctx, NVTX).
 * The stacks of open scopes, their ids and scope_current are in scope_stack.h.
 *
 * A scope's text is written into the spool once: at the push, or with the thread's first record for
 * scopes that are open when the session starts.
 *
 * Threading: any thread; each has a stack of its own. Cost: scope_current is three loads; a push
 * copies the text and writes one record. */
#ifndef DAGTAP_CAPTURE_SCOPE_H
#define DAGTAP_CAPTURE_SCOPE_H

#include <stddef.h>
#include <stdint.h>

#include "capture/scope_stack.h"
#include "record/record.h"

struct dagtap_attribute;
struct text;

/* Call before writing a record that a ring keeps and that names the current scope
 * (NODE_RECORDED, CUDA_GRAPH): writes the calling thread's open scopes among the kept records,
 * too. Without a ring it does nothing. */
void scope_keep_open(void);

/* Opens a scope of KIND within the calling thread's innermost one; the text is copied. Returns
 * the scope's id; 0 when nothing is recorded and nothing will be, and when the stack has no room
 * or memory. Then the matching pop is still due. */
uint64_t scope_push(enum record_scope_kind kind, const char *text);
/* The same with COUNT attributes, which are copied. */
uint64_t scope_push_with(enum record_scope_kind kind, const char *text,
			 const struct dagtap_attribute *attributes, size_t count);
/* The same for a step, whose NUMBER is an attribute. scope_pop ends it. */
uint64_t scope_step_begin(const char *name, int64_t number);

/* The same for NVTX, whose domains each have an order of their own. DOMAIN is the domain's
 * number; 0: the default domain. */
uint64_t scope_push_nvtx(uint32_t domain, const char *text,
			 const struct dagtap_attribute *attributes, size_t count);
/* The same for a registered text, which is never freed, without attributes but the name of its
 * domain, whose number DOMAIN is. Cheaper: the text is neither copied nor written, but the first
 * time in a session. */
uint64_t scope_push_shared(uint32_t domain, struct text *text);
/* Ends the innermost scope of DOMAIN. Without one: does nothing. */
void scope_pop_nvtx(uint32_t domain);

/* Ends the innermost scope of KIND, also when scopes of other kinds were opened above it.
 * Without one: does nothing. */
void scope_pop(enum record_scope_kind kind);

/* As dagtap_scope_path in dagtap/annotate.h: returns the depth of the calling thread's path and
 * stores its first ROOM ids. */
size_t scope_path(uint64_t *ret_ids, size_t room);
/* As dagtap_scope_attach: puts the calling thread under another thread's path, until
 * scope_detach. */
void scope_attach(const uint64_t *ids, size_t count);
/* As dagtap_scope_detach: ends the innermost scope_attach. Without one: does nothing. */
void scope_detach(void);

/* Ranges and marks are on no stack: any thread may stop a range that another one has started.
 *
 * Starts a range. TEXT is copied and may be NULL. Returns the range's id; 0 when nothing is
 * recorded and nothing will be. A range that is started before the session is kept, with its
 * text alone, and written when the session starts; at most 64 are kept. */
uint64_t scope_range_start(const char *text);
/* The same with COUNT attributes. */
uint64_t scope_range_start_with(const char *text, const struct dagtap_attribute *attributes,
				size_t count);
/* The same with an id that the caller gives: that of a real roctx library, with the two top bits
 * set, which no other scope has. */
void scope_range_start_as(uint64_t id, const char *text);
/* Ends the range ID. An unknown id is recorded, too. */
void scope_range_stop(uint64_t id);
/* Writes a mark, a scope without an end. Outside a session it is not recorded. TEXT may be NULL. */
void scope_mark(const char *text);
/* The same with COUNT attributes. */
void scope_mark_with(const char *text, const struct dagtap_attribute *attributes, size_t count);

#endif
