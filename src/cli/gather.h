/* From a folder of spools to one .dagtap file. */
#ifndef DAGTAP_CLI_GATHER_H
#define DAGTAP_CLI_GATHER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "trace/bundle.h"

struct gather_request {
	const char *folder; /* of the spools */
	const char *output;
	bool force; /* replace OUTPUT */
	const struct bundle_meta *meta;
};

struct gather_result {
	uint32_t spool_count; /* 0: no process used a GPU, and no file was written */
	uint64_t file_bytes;
};

int gather_spools(const struct gather_request *request, struct gather_result *ret_result,
		  struct dagtap_error *error);

/* Removes the folder and the spools in it; anything else in it is left, and the folder with it. */
void gather_remove(const char *folder);

#endif
