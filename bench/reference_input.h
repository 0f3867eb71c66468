/*
 * The input of a benchmark: a part of the reference run, which is generated, or a spool that the
 * user names.
 */
#ifndef DAGTAP_BENCH_REFERENCE_INPUT_H
#define DAGTAP_BENCH_REFERENCE_INPUT_H

#include <stdint.h>

#include "bench.h"

#define REFERENCE_INPUT_HELP "[--steps N of the reference run's 100 | --spool FILE]"

struct reference_input {
	const char *spool; /* NULL: generated, with STEPS steps */
	uint32_t steps;
};

/* Parses the options above. Returns 0 or -EINVAL. */
int reference_input_take(struct reference_input *input, int argc, char **argv);

/*
 * Calls MEASURE with the spool and with an empty folder for its files, which it must leave empty.
 * Returns 0 or the first error.
 */
int reference_input_use(const struct reference_input *input,
			int (*measure)(const char *spool, const char *folder,
				       struct bench_result *ret_result),
			struct bench_result *ret_result);

#endif
