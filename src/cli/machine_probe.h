/* Finds out which capture sources this machine has, for `dagtap info` and `dagtap record`. */
#ifndef DAGTAP_CLI_MACHINE_PROBE_H
#define DAGTAP_CLI_MACHINE_PROBE_H

#include <stdbool.h>

struct machine_source {
	const char *name; /* static */
	const char *help; /* static; what the source records */
	bool is_there;
	char *text; /* library path, or why it is absent; may be NULL; the caller frees */
};

#define MACHINE_SOURCE_COUNT 5

/* Fills RET_SOURCES. Loads the vendors' libraries, whose constructors run, and unloads them. */
void machine_probe(struct machine_source ret_sources[MACHINE_SOURCE_COUNT]);

/* What to do where nothing was recorded. IS_SOFTGPU: the program ran on the software GPU; if it did
 * not and the machine has no device file of a GPU, the text names --softgpu. Static. */
const char *machine_advise(bool is_softgpu);

#endif
