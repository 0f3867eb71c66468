/* What commands that write a file check and say. Threading: the main thread, and the threads that
 * write files of their own. */
#ifndef DAGTAP_CLI_OUTPUT_FILE_H
#define DAGTAP_CLI_OUTPUT_FILE_H

#include <stdint.h>

#include "base/error_text.h"

/* Checks that OUTPUT may replace what is there without destroying one of the COUNT inputs
 * (base/keep_input.h). Every command that reads files and writes one calls it before it reads.
 * Returns CLI_OK, or CLI_FAILED after a message. */
int output_file_check(const char *output, const char *const *inputs, uint32_t count);

/* Says why an output could not be opened or committed, with the advice that --force replaces a
 * file that exists. Returns CLI_FAILED. */
int output_file_fail(const struct dagtap_error *error);

#endif
