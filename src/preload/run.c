/* The command dagpatch: "dagpatch run -- PROGRAM" starts a program with libdagpatch-preload.so. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/amount.h"
#include "preload/run_summary.h"

#define STATS_VARIABLE "DAGPATCH_PRELOAD_STATS"

static const char usage[] =
	"usage: dagpatch run [OPTIONS] -- PROGRAM [ARGUMENTS]\n"
	"\n"
	"Runs PROGRAM so that sets of graph parameters which come back need no update: several\n"
	"executable graphs stand behind each one that the program updates.\n"
	"\n"
	"  --execs N       executable graphs for each of the program's, at most (128)\n"
	"  --memory SIZE   memory for each of the program's, at most: 64M, 1G (256M)\n"
	"  --stats FILE    append the counters of each process to FILE, one JSON object a line\n"
	"  --advise        change nothing; count how many sets come back, for --summary, --stats "
	"and\n"
	"                  \"dagtap graph --advise\" of a recording\n"
	"  --summary       at the end, print the counters to standard error\n"
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

struct arguments {
	int program; /* its index */
	bool is_summed_up;
};

static bool is_number(const char *text)
{
	char *end;

	return strtol(text, &end, 10) >= 1 && !*end;
}

static bool is_size(const char *text)
{
	uint64_t bytes;
	const char *end = amount_bytes(text, &bytes);

	return end && !*end && bytes > 0;
}

static bool is_any(const char *text)
{
	return *text != '\0';
}

static const struct {
	const char *name, *variable;
	bool (*is_valid)(const char *text);
} options[] = {
	{"--execs", "DAGPATCH_PRELOAD_EXECS", is_number},
	{"--memory", "DAGPATCH_PRELOAD_MEMORY", is_size},
	{"--stats", STATS_VARIABLE, is_any},
};

/* Sets the variable of an option. False: there is no such option, or not with this value. */
static bool set_option(const char *name, const char *value)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (strcmp(name, options[i].name) == 0)
			return value && options[i].is_valid(value) &&
			       setenv(options[i].variable, value, 1) == 0;
	return false;
}

/* False: the command line is wrong. */
static bool read_arguments(int argc, char **argv, struct arguments *arguments)
{
	int i = 2;

	if (argc < 3 || strcmp(argv[1], "run") != 0)
		return false;
	while (i < argc && strcmp(argv[i], "--") != 0) {
		if (strcmp(argv[i], "--summary") == 0) {
			arguments->is_summed_up = true;
			i++;
		} else if (strcmp(argv[i], "--advise") == 0) {
			if (setenv("DAGPATCH_PRELOAD", "advise", 1) != 0)
				return false;
			i++;
		} else if (set_option(argv[i], argv[i + 1])) {
			i += 2;
		} else {
			return false;
		}
	}
	arguments->program = i + 1;
	return i + 1 < argc;
}

static int execute(char **program)
{
	execvp(*program, program);
	fprintf(stderr, "dagpatch: %s: %s\n", *program, strerror(errno));
	return NOT_STARTED;
}

/* ---- with a summary ---- */

/* Opens the file of counters, which may have lines of earlier runs, at its end. NULL: failed. */
static FILE *open_stats(void)
{
	const char *path = getenv(STATS_VARIABLE);
	char made[] = "/tmp/dagpatch-XXXXXX";
	int file;

	if (path) {
		file = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0666);
	} else {
		file = mkostemp(made, O_CLOEXEC);
		if (file >= 0 && setenv(STATS_VARIABLE, made, 1) != 0)
			return NULL;
	}
	if (file < 0)
		return NULL;
	lseek(file, 0, SEEK_END);
	return fdopen(file, "r");
}

static pid_t child;

static void forward(int number)
{
	kill(child, number);
}

/* Runs the program as a child. A terminal's signals reach both; others are sent on. Returns the
 * status to end with. */
static int run_child(char **program)
{
	int status;

	child = fork();
	if (child == 0)
		_exit(execute(program));
	if (child < 0)
		return FAILED;
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGTERM, forward);
	signal(SIGHUP, forward);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return FAILED;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int run_with_summary(char **program)
{
	bool is_given = getenv(STATS_VARIABLE);
	FILE *stats = open_stats();
	const char *file = getenv(STATS_VARIABLE);
	int status;

	if (!stats) {
		fprintf(stderr, "dagpatch: the file of counters: %s\n", strerror(errno));
		return FAILED;
	}
	status = run_child(program);
	run_summary_print(stats, stderr);
	fclose(stats);
	if (!is_given && file)
		unlink(file);
	return status;
}

int main(int argc, char **argv)
{
	struct arguments arguments = {0};
	char library[8192];

	if (argc == 2 && strcmp(argv[1], "--help") == 0) {
		fputs(usage, stdout);
		return 0;
	}
	if (!read_arguments(argc, argv, &arguments))
		return refuse();
	if (!find_library(library, sizeof(library)) || add_preload(library) != 0) {
		fprintf(stderr, "dagpatch: %s: %s\n", library, strerror(errno));
		return FAILED;
	}
	return arguments.is_summed_up ? run_with_summary(argv + arguments.program)
				      : execute(argv + arguments.program);
}
