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

/* Writes the fields of FIXED after its header, and BODY: the text, already cut, and the attributes
 * after it. */
void scope_record_put(struct writer *w, enum record_scope_kind kind,
		      const struct record_scope *fixed, const char *body, size_t body_bytes);

/* Writes a scope that is on no stack, with COUNT attributes. The tag of SCOPE's header is its kind
 * (enum record_scope_kind). Sets its text_bytes. */
void scope_record_put_loose(struct writer *w, struct record_scope *scope, const char *text,
			    const struct dagtap_attribute *attributes, size_t count);

/* Writes that the scope ID ends now. */
void scope_record_put_end(struct writer *w, uint64_t id);

#endif
