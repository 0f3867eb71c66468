/* Which sources this machine has, and why not. */
#ifndef DAGTAP_CLI_MACHINE_H
#define DAGTAP_CLI_MACHINE_H

#include <stdbool.h>

struct machine_source {
	const char *name;
	const char *help;
	bool is_there;
	char *text; /* where it is, or why it is not there; the caller frees */
};

#define MACHINE_SOURCE_COUNT 5

void machine_probe(struct machine_source ret_sources[MACHINE_SOURCE_COUNT]);

#endif
