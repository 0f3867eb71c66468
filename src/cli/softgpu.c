/* dagtap softgpu[=CONFIG] -- PROGRAM: sets the environment and becomes the program. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/launch.h"

int cli_softgpu(const struct cli_command *self, int argc, char **argv)
{
	const char *equals = strchr(argv[0], '=');
	struct dagtap_error error;
	int program = 1;

	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return cli_help(self);
	if (program < argc && !strcmp(argv[program], "--"))
		program++;
	else if (program < argc && argv[program][0] == '-')
		return cli_usage(self, "unknown option %s", argv[program]);
	if (program >= argc)
		return cli_usage(self, "which program?");
	if (launch_use_softgpu(equals ? equals + 1 : NULL, &error) < 0)
		return cli_fail_error(&error);
	execvp(argv[program], argv + program);
	return cli_fail("%s: cannot be run: %s", argv[program], strerror(errno));
}
