/* Refuses a recording that would replace what its program runs from or is given. Threading: the
 * main thread. */
#ifndef DAGTAP_CLI_RECORD_INPUTS_H
#define DAGTAP_CLI_RECORD_INPUTS_H

#include "cli/record_options.h"

/* Checks that the program can be run, and that no file that the recording may replace or remove is
 * its own, or one that an argument names, alone or behind the first '=': OUT, what is in the folder
 * FOLDER of spools, or a recording of an outlier. Returns CLI_OK, or CLI_FAILED after a message. */
int record_inputs_check(const struct record_options *options, const char *folder);

#endif
