/* The names of kernels in text: short on a terminal (analyze/short_names.h), whole in a pipe, in a
 * file and with --full-names. A command has one set of names, for the traces that it shows.
 * Threading: the main thread. */
#ifndef DAGTAP_CLI_KERNEL_NAMES_H
#define DAGTAP_CLI_KERNEL_NAMES_H

#include <stdbool.h>

#include "cli/command_options.h"
#include "trace/trace_model.h"

/* The row of --full-names in a command's table of options; MEMBER of TYPE is a bool. */
#define KERNEL_NAMES_OPTION(type, member)                                                          \
	{                                                                                          \
		"full-names", .help = "print whole names of kernels on a terminal too",            \
			      OPTION_IN(type, member)                                              \
	}

/* Makes the names of the kernels of COUNT traces, which must live until kernel_names_release. Does
 * nothing if ARE_FULL, or if stdout is no terminal. Without memory, names stay whole. */
void kernel_names_use(const struct trace *const *traces, uint32_t count, bool are_full);
void kernel_names_release(void);

/* What is printed for TEXT, which may be the name of a kernel or anything else. */
const char *kernel_names_text(const char *text);

#endif
