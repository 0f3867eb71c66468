/* The options and the input of the benchmarks that read a spool: reference_input.h. */
#include "reference_input.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reference_spool.h"

#define FOLDER_BYTES_MOST (PATH_MAX - 32)

int reference_input_take(struct reference_input *input, int argc, char **argv)
{
	for (int i = 0; i < argc; i += 2) {
		char *end = NULL;

		if (i + 1 == argc)
			return -EINVAL;
		if (!strcmp(argv[i], "--spool")) {
			input->spool = argv[i + 1];
			continue;
		}
		if (strcmp(argv[i], "--steps") != 0)
			return -EINVAL;
		input->steps = (uint32_t)strtoul(argv[i + 1], &end, 10);
		if (*end || input->steps < 1 || input->steps > REFERENCE_STEPS_MOST)
			return -EINVAL;
	}
	return 0;
}

int reference_input_use(const struct reference_input *input,
			int (*measure)(const char *spool, const char *folder,
				       struct bench_result *ret_result),
			struct bench_result *ret_result)
{
	const char *base = getenv("TMPDIR");
	char folder[FOLDER_BYTES_MOST];
	char spool[PATH_MAX];
	int error = 0;

	snprintf(folder, sizeof(folder), "%s/dagtap-bench-XXXXXX", base ? base : "/tmp");
	if (!mkdtemp(folder))
		return -errno;
	snprintf(spool, sizeof(spool), "%s/reference.spool", folder);
	if (!input->spool)
		error = reference_spool_write(spool, 1, input->steps);
	if (!error)
		error = measure(input->spool ? input->spool : spool, folder, ret_result);
	unlink(spool);
	rmdir(folder);
	return error;
}
