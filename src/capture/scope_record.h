/* The records SCOPE and SCOPE_END.
 *
 * Threading: the thread of the writer. A full spool drops the record; the writer counts it. */
#ifndef DAGTAP_CAPTURE_SCOPE_RECORD_H
#define DAGTAP_CAPTURE_SCOPE_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "record/record.h"
#include "record/writer.h"

struct dagtap_attribute;
struct text;

/* Writes the fields of FIXED after its header, and BODY: the text, already cut, and the attributes
 * after it. */
void scope_record_put(struct writer *w, enum record_scope_kind kind,
		      const struct record_scope *fixed, const char *body, size_t body_bytes);

/* The same for a scope whose text and attributes are those of TEXT, an NVTX text that its program
 * has registered: TEXT's group is its domain. If W's spool does not have them, writes them as
 * a SCOPE_BODY; the record of the scope has their number. Two threads may both do so. */
void scope_record_put_shared(struct writer *w, enum record_scope_kind kind,
			     const struct record_scope *fixed, struct text *text);

/* Writes a scope that is on no stack, with COUNT attributes. The tag of SCOPE's header is its kind
 * (enum record_scope_kind). Sets its text_bytes. */
void scope_record_put_loose(struct writer *w, struct record_scope *scope, const char *text,
			    const struct dagtap_attribute *attributes, size_t count);

/* Writes that the scope ID ends now. */
void scope_record_put_end(struct writer *w, uint64_t id);

#endif
