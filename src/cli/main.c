/* dagtap, the command line: the table of commands and the overview. */
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/launcher.h"
#include "format/read.h"

static const struct cli_command commands[] = {
	{"record", "[-o OUT.dagtap] [--softgpu[=CONFIG]] [options] -- PROGRAM ARGS...",
	 "run a program and record what it did on the GPU",
	 "  -o, --output FILE      default: dagtap-PROGRAM-PID.dagtap\n"
	 "  -f, --force            replace FILE if it exists\n"
	 "      --softgpu[=CONFIG] run on the software GPU (see dagtap-softgpu(1))\n"
	 "      --backend NAME     hsa, cuda or auto (default)\n"
	 "      --ring HOW         keep the last SIZE (64M), SECONDSs (30s), or both (64M,30s)\n"
	 "      --ready SIZE       most room kept ready for records, a process: 64M, 256M ...\n"
	 "      --hsa-mode MODE    harvest (default), borrow, observe or intercept: how kernels "
	 "are timed\n"
	 "      --keep-spool       leave the folder of spools beside FILE\n"
	 "  -q, --quiet            no line at the end\n",
	 cli_record},
	{"softgpu", "-- PROGRAM ARGS...   (or softgpu=CONFIG -- PROGRAM ...)",
	 "run a program on the software GPU, untraced",
	 "  CONFIG is a list of words and key=value, for example gfx90a,gpus=2,kernel_ns=5000\n",
	 cli_softgpu},
	{"summary", "FILE [--by kernel|stream|graph|scope|api] [--json]", "where the time went",
	 "      --by WHAT          kernel (default), stream, graph, scope or api\n"
	 "      --limit N          rows to show, 0 = all (default 30; JSON always has all)\n"
	 "      --json             docs/json.md\n",
	 cli_summary},
	{"check", "FILE [--json] [--strict]", "the ledger: is everything accounted for?",
	 "      --json             docs/json.md\n"
	 "      --strict           records that were dropped and counted fail, too\n"
	 "  Exit status 0: all accounted for; 3: something is not.\n",
	 cli_check},
	{"graph", "FILE [--json|--dot] [--graph ID] [--advise]",
	 "graphs, their nodes, replays, the critical path of a replay",
	 "      --graph ID         this graph alone\n"
	 "      --limit N          nodes to show of each graph, 0 = all (default 30)\n"
	 "      --json             docs/json.md\n"
	 "      --dot              Graphviz\n"
	 "      --advise           instead: which nodes are updated between replays\n",
	 cli_graph},
	{"path",
	 "FILE [--scope TEXT [--nth N]|--step N|--replay GRAPH:N|--from NS --to NS] [--json]",
	 "the critical path; who waited for whom, and why streams stood still",
	 "      --scope TEXT       of each instance of this scope; --nth N: of one, from 0\n"
	 "      --step N           of scopes like \"step N\", \"ProfilerStep#N\", \"train N\"\n"
	 "      --replay GRAPH:N   of the graph's Nth replay, from 0\n"
	 "      --from NS, --to NS of this stretch of time\n"
	 "      --limit N          rows to show, 0 = all (default 20; JSON has all unless given)\n"
	 "      --json             docs/json.md\n",
	 cli_path},
	{"diff", "A B [--by kernel|node|scope|api] [--threshold PCT] [--json]",
	 "what changed from one trace to another",
	 "      --by WHAT          kernel (default), node (of graphs), scope or api\n"
	 "      --threshold PCT    only what changed by at least so many percent of A's total\n"
	 "      --limit N          rows to show, 0 = all (default 30; JSON always has all)\n"
	 "      --json             docs/json.md\n"
	 "  Exit status 0 whether or not anything changed.\n",
	 cli_diff},
	{"export", "--format NAME -o OUT FILE", "convert a recording for other tools", NULL,
	 cli_export},
	{"info", "[FILE] [--json]", "what can be recorded here, or what a recording holds",
	 "      --json             docs/json.md\n", cli_info},
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static void print_overview(FILE *out)
{
	const struct read_format *format;

	fprintf(out,
		"usage: dagtap COMMAND ...\n\n"
		"Every piece of work a GPU did, each kernel inside a replayed graph included.\n\n");
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].help);
	fprintf(out, "\ndagtap COMMAND --help says more. FILE is a .dagtap, a .spool or a folder of"
		     " spools,\nor another tool's trace:\n");
	for (size_t i = 0; (format = read_format_at(i)); i++)
		fprintf(out, "  %-10s %s\n", format->extension, format->help);
	fprintf(out,
		"Exit status: 0 done, 1 failed, 2 wrong usage, 3 check found a loss or the file is"
		" damaged;\nrecord hands the program's own through (128 + N for signal N).\n");
}

/* Whether WORD names the command. "softgpu=CONFIG" is the command softgpu with its
 * configuration. */
static bool is_command(const struct cli_command *command, const char *word)
{
	size_t chars = strlen(command->name);

	if (strncmp(word, command->name, chars) != 0)
		return false;
	return word[chars] == '\0' || (word[chars] == '=' && command->run == cli_softgpu);
}

/* Opens /dev/null for each closed standard descriptor. Otherwise the next opened file would get
 * its number, and output for the terminal would go into that file. Opened for reading, so that
 * writing still fails and is noticed. */
static void fill_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

static int run(const struct cli_command *command, int argc, char **argv)
{
	char name[32];

	/* getopt's messages begin with argv[0]. */
	snprintf(name, sizeof(name), "dagtap %s", command->name);
	if (command->run != cli_softgpu)
		argv[0] = name;
	return command->run(command, argc, argv);
}

int main(int argc, char **argv)
{
	fill_standard_descriptors();
	launch_ignore_file_limit();
	/* Fixes the threshold. Otherwise malloc raises it when the first large array is freed,
	 * and then keeps the memory of later arrays. */
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
	if (argc < 2) {
		print_overview(stderr);
		return CLI_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("dagtap %s\n", DAGTAP_VERSION);
		return cli_finish_stdout();
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		print_overview(stdout);
		return cli_finish_stdout();
	}
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		if (is_command(&commands[i], argv[1]))
			return run(&commands[i], argc - 1, argv + 1);
	}
	cli_fail("no command \"%s\"; dagtap --help lists them", argv[1]);
	return CLI_USAGE;
}
