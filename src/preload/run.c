/* The command dagpatch: "dagpatch run -- PROGRAM" starts a program with libdagpatch-preload.so. */
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
	"usage: dagpatch run [--execs N] [--stats FILE] -- PROGRAM [ARGUMENTS]\n"
	"\n"
	"Runs PROGRAM so that sets of graph parameters which come back need no update: several\n"
	"executable graphs stand behind each one that the program updates.\n"
	"\n"
	"  --execs N     executable graphs for each of the program's, at most (128)\n"
	"  --stats FILE  append the counters of each process to FILE, one JSON object a line\n"
	"\n"
	"DAGPATCH_PRELOAD=0 in the environment turns it off.\n";

enum { FAILED = 1, WRONG_USAGE = 2, NOT_STARTED = 127 };

/* Finds the library beside this program: ../lib/dagtap. Returns false if it is not there. */
static int find_library(char *path, size_t size)
{
	char self[4096];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length < 0)
		return 0;
	self[length] = '\0';
	snprintf(path, size, "%s/../lib/dagtap/libdagpatch-preload.so", dirname(self));
	return access(path, R_OK) == 0;
}

/* Other preloaded libraries, as dagtap's, come first: they see the program's own calls. */
static int add_preload(const char *library)
{
	const char *before = getenv("LD_PRELOAD");
	char *list;
	int err;

	if (asprintf(&list, "%s%s%s", before ? before : "", before && *before ? ":" : "", library) <
	    0)
		return -1;
	err = setenv("LD_PRELOAD", list, 1);
	free(list);
	return err;
}

static int refuse(void)
{
	fputs(usage, stderr);
	return WRONG_USAGE;
}

/* Returns the index of the program in ARGV, or 0 if the command line is wrong. */
static int read_options(int argc, char **argv)
{
	int i = 2;

	if (argc < 3 || strcmp(argv[1], "run") != 0)
		return 0;
	for (; i < argc && strcmp(argv[i], "--") != 0; i += 2) {
		const char *variable = strcmp(argv[i], "--execs") == 0	 ? "DAGPATCH_PRELOAD_EXECS"
				       : strcmp(argv[i], "--stats") == 0 ? "DAGPATCH_PRELOAD_STATS"
									 : NULL;
		char *end;

		if (!variable || i + 1 >= argc)
			return 0;
		if (strcmp(argv[i], "--execs") == 0 && (strtol(argv[i + 1], &end, 10) < 1 || *end))
			return 0;
		if (setenv(variable, argv[i + 1], 1) != 0)
			return 0;
	}
	return i + 1 < argc ? i + 1 : 0;
}

int main(int argc, char **argv)
{
	char library[8192];
	int program;

	if (argc == 2 && strcmp(argv[1], "--help") == 0) {
		fputs(usage, stdout);
		return 0;
	}
	program = read_options(argc, argv);
	if (!program)
		return refuse();
	if (!find_library(library, sizeof(library)) || add_preload(library) != 0) {
		fprintf(stderr, "dagpatch: %s: %s\n", library, strerror(errno));
		return FAILED;
	}
	execvp(argv[program], argv + program);
	fprintf(stderr, "dagpatch: %s: %s\n", argv[program], strerror(errno));
	return NOT_STARTED;
}
