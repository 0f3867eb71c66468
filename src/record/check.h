/* Is a record what its type says? For readers. */
#ifndef DAGTAP_RECORD_CHECK_H
#define DAGTAP_RECORD_CHECK_H

#include <stdint.h>

#include "record/record.h"

/* HEADER is followed by ROOM bytes, itself included. Returns NULL when the record is sound or its
 * type unknown, else what is wrong with it, static. */
const char *record_check(const struct record_header *header, uint32_t room);

#endif
