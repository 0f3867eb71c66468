/* dagtap softgpu[=CONFIG] -- PROGRAM: sets the environment, then replaces itself by the program. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/command_options.h"
#include "cli/help.h"
#include "cli/launcher.h"

static int print_keys(void)
{
	struct dagtap_error error;

	putchar('\n');
	return launch_print_softgpu_keys(&error) < 0 ? cli_fail_error(&error) : CLI_OK;
}

static int softgpu(const struct cli_command *self, int argc, char **argv)
{
	const char *equals = strchr(argv[0], '=');
	struct dagtap_error error;
	int program, err = options_parse(self, argc, argv, NULL, &program);

	if (err != CLI_OK)
		return err;
	if (program >= argc)
		return cli_usage(self, "PROGRAM is missing");
	err = launch_use_softgpu(equals ? equals + 1 : NULL, &error);
	if (err < 0)
		return err == -EINVAL ? cli_usage(self, "%s; dagtap softgpu --help lists the keys",
						  error.message)
				      : cli_fail_error(&error);
	launch_restore_file_limit();
	execvp(argv[program], argv + program);
	return cli_fail("%s: cannot be run: %s", argv[program], strerror(errno));
}

static const struct cli_option no_options[] = {{0}};

const struct cli_command cmd_softgpu = {
	.name = "softgpu",
	.value = "CONFIG",
	.operands = "-- PROGRAM ARGS...",
	.help = "run a program on the software GPU, untraced",
	.options = no_options,
	.notes = "CONFIG is a list of words and key=value, for example "
		 "gfx90a,gpus=2,kernel_ns=5000\n",
	.print_more = print_keys,
	.starts_program = true,
	.run = softgpu,
};
