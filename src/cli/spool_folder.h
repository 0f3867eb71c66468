/* OUT.spool: where the traced processes record, until it becomes OUT.dagtap. */
#ifndef DAGTAP_CLI_SPOOL_FOLDER_H
#define DAGTAP_CLI_SPOOL_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

struct spool_folder_options {
	bool force; /* what an earlier recording left there goes */
	uint64_t
		memory_bytes; /* not 0: in memory, behind a link, where there is room for several of that size */
};

/* OUT.dagtap -> OUT.spool, as an absolute path: the program may change its folder. NULL: out of memory; the
 * caller frees it. */
char *spool_folder_of(const char *output);

/* An empty folder, locked against other recordings for as long as this process lives. Returns CLI_OK, or has said
 * why not. */
int spool_folder_make(const char *folder, const struct spool_folder_options *options);

#endif
