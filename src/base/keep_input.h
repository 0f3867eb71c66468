/* Refuses an output that would destroy what is read: the same file under any name, a file of a
 * folder that is read, or a folder around the input. Threading: any thread. */
#ifndef DAGTAP_BASE_KEEP_INPUT_H
#define DAGTAP_BASE_KEEP_INPUT_H

#include <stdbool.h>

#include "base/error_text.h"

/* Whether both paths lead to one file, by links or not. */
bool keep_input_is_same(const char *one, const char *other);

/* Checks whether replacing OUTPUT, a file or a folder, leaves INPUT as it is; "-" as OUTPUT is
 * standard output. Files that do not exist are no reason to refuse. Returns 0, or -EBUSY with one
 * line in ERROR. */
int keep_input(const char *output, const char *input, struct dagtap_error *error);

#endif
