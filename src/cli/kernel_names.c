/* The short names of the command that runs (kernel_names.h). */
#include "cli/kernel_names.h"

#include <unistd.h>

#include "analyze/short_names.h"

static struct short_names names;

void kernel_names_use(const struct trace *const *traces, uint32_t count, bool are_full)
{
	if (!are_full && isatty(STDOUT_FILENO))
		short_names_of_traces(traces, count, &names);
}

void kernel_names_release(void)
{
	short_names_release(&names);
}

const char *kernel_names_text(const char *text)
{
	return short_names_find(&names, text);
}
