/* Checks that a record is well-formed before a reader casts it to its type's struct. */
#ifndef DAGTAP_RECORD_RECORD_CHECK_H
#define DAGTAP_RECORD_RECORD_CHECK_H

#include <stdint.h>

#include "record/record.h"

/* Checks the record at HEADER: its size is at most ROOM bytes (counted from the header on) and at
 * least its type's, and its text and attributes lie within it. Of a record of an unknown type only
 * the size is checked. Returns NULL if the record is well-formed, else a static text that says what
 * is wrong. Any thread; reads nothing behind ROOM bytes. */
const char *record_check(const struct record_header *header, uint32_t room);

#endif
