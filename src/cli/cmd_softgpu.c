/* dagtap softgpu[=CONFIG] -- PROGRAM: sets the environment, then replaces itself by the program. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/launcher.h"

static int help(const struct cli_command *self)
{
	struct dagtap_error error;

	cli_help(self);
	putchar('\n');
	if (launch_print_softgpu_keys(&error) < 0)
		return cli_fail_error(&error);
	return cli_finish_stdout();
}

int cli_softgpu(const struct cli_command *self, int argc, char **argv)
{
	const char *equals = strchr(argv[0], '=');
	struct dagtap_error error;
	int program = 1;
	int err;

	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return help(self);
	if (program < argc && !strcmp(argv[program], "--"))
		program++;
	else if (program < argc && argv[program][0] == '-')
		return cli_usage(self, "unknown option %s", argv[program]);
	if (program >= argc)
		return cli_usage(self, "which program?");
	err = launch_use_softgpu(equals ? equals + 1 : NULL, &error);
	if (err < 0)
		return err == -EINVAL ? cli_usage(self, "%s; dagtap softgpu --help lists the keys",
						  error.message)
				      : cli_fail_error(&error);
	launch_restore_file_limit();
	execvp(argv[program], argv + program);
	return cli_fail("%s: cannot be run: %s", argv[program], strerror(errno));
}
