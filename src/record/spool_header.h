/* The header of a spool in memory: its check, and the process that it names. Any thread. */
#ifndef DAGTAP_RECORD_SPOOL_HEADER_H
#define DAGTAP_RECORD_SPOOL_HEADER_H

#include <stddef.h>

#include "base/error_text.h"
#include "record/spool.h"
#include "record/spool_reader.h"

/* Checks the part of HEADER that does not change. LENGTH is the length of the file, NAME stands for
 * it in messages. Returns 0, or -EINVAL or -ENODATA with a text in ERROR (which may be NULL), as
 * spool_reader_open. */
int spool_header_check(const struct spool_header *header, size_t length, const char *name,
		       struct dagtap_error *error);

/* What a checked HEADER says of the process. The texts lie in HEADER. */
struct spool_info spool_header_info(const struct spool_header *header);

#endif
