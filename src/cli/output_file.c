/* See output_file.h. */
#include "cli/output_file.h"

#include <errno.h>

#include "base/keep_input.h"
#include "cli/cli.h"

int output_file_check(const char *output, const char *const *inputs, uint32_t count)
{
	struct dagtap_error error;

	for (uint32_t i = 0; i < count; i++) {
		if (keep_input(output, inputs[i], &error) < 0)
			return cli_fail_error(&error);
	}
	return CLI_OK;
}

int output_file_fail(const struct dagtap_error *error)
{
	if (error->code == -EEXIST)
		return cli_fail("%s; --force replaces it", error->message);
	return cli_fail_error(error);
}
