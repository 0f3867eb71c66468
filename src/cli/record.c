/* dagtap record: run a program with the tracer in it, gather its spools into one file. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <linux/magic.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "cli/gather.h"
#include "cli/human.h"
#include "cli/launch.h"
#include "format/words.h"

#define SURVIVORS_WAIT_NS 3000000000u

struct record_options {
	char *output;
	const char *softgpu; /* NULL = not asked for */
	const char *ready;
	const char *ring;
	const char *hsa_mode;
	enum launch_backend backend;
	bool force;
	bool keep_spool;
	bool quiet;
	bool help;
	char **program;
};

enum record_option {
	OPTION_SOFTGPU = 256,
	OPTION_BACKEND,
	OPTION_READY,
	OPTION_RING,
	OPTION_HSA_MODE,
	OPTION_KEEP_SPOOL
};

static const struct option long_options[] = {
	{"output", required_argument, NULL, 'o'},
	{"force", no_argument, NULL, 'f'},
	{"quiet", no_argument, NULL, 'q'},
	{"help", no_argument, NULL, 'h'},
	{"softgpu", optional_argument, NULL, OPTION_SOFTGPU},
	{"backend", required_argument, NULL, OPTION_BACKEND},
	{"ready", required_argument, NULL, OPTION_READY},
	{"ring", required_argument, NULL, OPTION_RING},
	{"hsa-mode", required_argument, NULL, OPTION_HSA_MODE},
	{"keep-spool", no_argument, NULL, OPTION_KEEP_SPOOL},
	{0},
};

static int take_backend(const struct cli_command *self, const char *name,
			enum launch_backend *ret_backend)
{
	static const char *const names[] = {
		[LAUNCH_AUTO] = "auto", [LAUNCH_HSA] = "hsa", [LAUNCH_CUDA] = "cuda"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strcmp(name, names[i])) {
			*ret_backend = (enum launch_backend)i;
			return CLI_OK;
		}
	}
	return cli_usage(self, "no backend \"%s\"", name);
}

static int check_hsa_mode(const struct cli_command *self, const char *name)
{
	for (int i = 1; i < RECORD_QUEUE_MODE_COUNT; i++) {
		if (!strcmp(name, words_queue_mode((enum record_queue_mode)i)))
			return CLI_OK;
	}
	return cli_usage(self, "no HSA mode \"%s\"", name);
}

static int check_ring(const struct cli_command *self, const char *text)
{
	bool is_good;
	regex_t form;

	if (regcomp(&form,
		    "^(0*[1-9][0-9]{0,9}[KMGkmg]?(,0*[1-9][0-9]{0,9}s)?|0*[1-9][0-9]{0,9}s)$",
		    REG_EXTENDED | REG_NOSUB))
		return cli_fail("out of memory");
	is_good = !regexec(&form, text, 0, NULL, 0);
	regfree(&form);
	return is_good ? CLI_OK
		       : cli_usage(self,
				   "--ring %s: neither a size (64M), nor seconds (30s), nor both "
				   "(64M,30s)",
				   text);
}

static int take_option(const struct cli_command *self, int option, struct record_options *options)
{
	switch (option) {
	case 'o':
		free(options->output);
		options->output = strdup(optarg);
		return CLI_OK;
	case 'f':
		options->force = true;
		return CLI_OK;
	case 'q':
		options->quiet = true;
		return CLI_OK;
	case 'h':
		options->help = true;
		return CLI_OK;
	case OPTION_SOFTGPU:
		options->softgpu = optarg ? optarg : "";
		return CLI_OK;
	case OPTION_BACKEND:
		return take_backend(self, optarg, &options->backend);
	case OPTION_READY:
		options->ready = optarg;
		return CLI_OK;
	case OPTION_RING:
		options->ring = optarg;
		return check_ring(self, optarg);
	case OPTION_HSA_MODE:
		options->hsa_mode = optarg;
		return check_hsa_mode(self, optarg);
	case OPTION_KEEP_SPOOL:
		options->keep_spool = true;
		return CLI_OK;
	default:
		return cli_usage(self, "see dagtap record --help");
	}
}

static int parse(const struct cli_command *self, int argc, char **argv,
		 struct record_options *options)
{
	int option, result;

	while ((option = getopt_long(argc, argv, "+o:fqh", long_options, NULL)) != -1) {
		result = take_option(self, option, options);
		if (result != CLI_OK)
			return result;
	}
	options->program = argv + optind;
	if (options->help)
		return CLI_OK;
	if (!*options->program)
		return cli_usage(self, "which program?");
	if (!options->output) {
		const char *slash = strrchr(*options->program, '/');

		if (asprintf(&options->output, "dagtap-%s-%d.dagtap",
			     slash ? slash + 1 : *options->program, (int)getpid()) < 0)
			options->output = NULL;
	}
	return options->output ? CLI_OK : cli_fail("out of memory");
}

/* OUT.dagtap -> OUT.spool, as an absolute path: the program may change its folder. */
static char *spool_folder(const char *output)
{
	size_t chars = strlen(output);
	char *folder, *cwd;

	if (chars > 7 && !strcmp(output + chars - 7, ".dagtap"))
		chars -= 7;
	if (output[0] == '/')
		return asprintf(&folder, "%.*s.spool", (int)chars, output) < 0 ? NULL : folder;
	cwd = getcwd(NULL, 0);
	if (!cwd)
		return NULL;
	if (asprintf(&folder, "%s/%.*s.spool", cwd, (int)chars, output) < 0)
		folder = NULL;
	free(cwd);
	return folder;
}

/* Before the program runs: afterwards it would be too late to ask for another name. */
static int check_output(const struct cli_command *self, const struct record_options *options)
{
	struct stat status;

	if (!*options->output || !strcmp(options->output, "-"))
		return cli_usage(self, "the recording needs a file of its own");
	if (stat(options->output, &status) < 0)
		return errno == ENOENT ? CLI_OK
				       : cli_fail("%s: %s", options->output, strerror(errno));
	if (!S_ISREG(status.st_mode))
		return cli_fail("%s: is there, and no regular file", options->output);
	if (!options->force)
		return cli_fail("%s: exists already; --force replaces it", options->output);
	return CLI_OK;
}

#define MEMORY_FOLDER	   "/dev/shm"
#define MEMORY_BYTES_LEAST ((uint64_t)1 << 30)

/* The lock lasts as long as this process: two recordings must not share a folder. */
static int lock_folder(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return cli_fail("%s: %s", folder, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return CLI_OK;
	close(fd);
	return errno == EWOULDBLOCK ? cli_fail("%s: another recording writes there", folder)
				    : CLI_OK;
}

/* What another recording left there. */
static int clear_folder(const char *folder)
{
	int result;

	if (access(folder, F_OK) < 0)
		return CLI_OK;
	result = lock_folder(folder);
	if (result != CLI_OK)
		return result;
	if (gather_count_live(folder) > 0)
		return cli_fail("%s: a process of an earlier recording still writes there", folder);
	gather_remove(folder);
	return CLI_OK;
}

/* A ring is written over and over: in memory, where there is room, no disk has to keep up with the program.
 * False: not there. FOLDER is then a link. */
static bool make_in_memory(const char *folder)
{
	char target[] = MEMORY_FOLDER "/dagtap-XXXXXX";
	struct statfs status;

	if (statfs(MEMORY_FOLDER, &status) < 0 || status.f_type != TMPFS_MAGIC ||
	    (uint64_t)status.f_bavail * (uint64_t)status.f_bsize < MEMORY_BYTES_LEAST ||
	    !mkdtemp(target))
		return false;
	if (chmod(target, 0755) == 0 && symlink(target, folder) == 0)
		return true;
	rmdir(target);
	return false;
}

static int make_folder(const struct cli_command *self, const struct record_options *options,
		       const char *folder)
{
	int result = check_output(self, options);

	if (result == CLI_OK && options->force)
		result = clear_folder(folder);
	if (result != CLI_OK)
		return result;
	if ((options->ring && !options->keep_spool && access(folder, F_OK) < 0 &&
	     make_in_memory(folder)) ||
	    mkdir(folder, 0755) == 0)
		return lock_folder(folder);
	if (errno == EEXIST)
		return cli_fail("%s: exists already (spools of a recording that was not finished; "
				"every command reads them); --force replaces it",
				folder);
	return cli_fail("%s: %s", folder, strerror(errno));
}

static int prepare_environment(const struct cli_command *self, const struct record_options *options,
			       const char *folder)
{
	struct dagtap_error error;
	int result = 0;

	if (launch_use_tracer(folder, options->backend, &error) < 0)
		return cli_fail_error(&error);
	if (options->softgpu)
		result = launch_use_softgpu(options->softgpu, &error);
	if (result < 0)
		return result == -EINVAL ? cli_usage(self, "%s", error.message)
					 : cli_fail_error(&error);
	if (options->ready && setenv("DAGTAP_READY", options->ready, 1) < 0)
		return cli_fail("environment: %s", strerror(errno));
	if (options->ring && setenv("DAGTAP_RING", options->ring, 1) < 0)
		return cli_fail("environment: %s", strerror(errno));
	if (options->hsa_mode && setenv("DAGTAP_HSA_MODE", options->hsa_mode, 1) < 0)
		return cli_fail("environment: %s", strerror(errno));
	return CLI_OK;
}

static char *join_words(char **words)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	for (char **word = words; *word; word++)
		fprintf(out, "%s%s", word == words ? "" : " ", *word);
	fclose(out);
	return text;
}

static void tell_result(const char *output, const struct gather_result *result)
{
	char size[HUMAN_CHARS], dispatches[HUMAN_CHARS], calls[HUMAN_CHARS];

	fprintf(stderr, "dagtap: %s: %s, %s dispatches, %s calls, %s\n", output,
		human_bytes(result->file_bytes, size), human_count(result->dispatches, dispatches),
		human_count(result->calls, calls), result->is_truncated ? "truncated" : "complete");
}

/* What the program left running and has recorded something gets a moment to end. Returns whether anything is
 * left running. */
static bool wait_for_survivors(const char *folder)
{
	const struct timespec pause = {.tv_nsec = 20000000};
	uint64_t deadline_ns = clock_now_ns() + SURVIVORS_WAIT_NS;

	while (launch_has_survivors()) {
		if (clock_now_ns() > deadline_ns || gather_count_processes(folder) == 0)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

static void tell_survivors(const struct record_options *options, const char *folder,
			   uint32_t live_count)
{
	fprintf(stderr,
		"dagtap: %s left processes running (%u recording): what they record stays in %s; "
		"every command reads it\n",
		options->program[0], live_count, folder);
}

static int gather(const struct record_options *options, const char *folder,
		  const struct bundle_meta *meta)
{
	bool has_survivors = wait_for_survivors(folder);
	const struct gather_request request = {.folder = folder,
					       .output = options->output,
					       .force = options->force,
					       .leave_live = has_survivors,
					       .keep = options->keep_spool,
					       .meta = meta};
	struct gather_result result = {0};
	struct dagtap_error error;
	uint32_t lost_count = gather_tell_lost(folder);

	if (gather_spools(&request, &result, &error) < 0) {
		cli_fail_error(&error);
		return cli_fail("the spools stay in %s; every command reads them", folder);
	}
	if (!has_survivors && (!options->keep_spool || result.spool_count == 0))
		gather_remove(folder);
	if (options->quiet)
		return lost_count ? CLI_FAILED : CLI_OK;
	if (has_survivors)
		tell_survivors(options, folder, result.live_count);
	if (result.spool_count > 0)
		tell_result(options->output, &result);
	else if (result.live_count == 0 && lost_count == 0)
		fprintf(stderr, "dagtap: %s used no GPU: nothing recorded\n", options->program[0]);
	return lost_count ? CLI_FAILED : CLI_OK;
}

static int record(const struct cli_command *self, const struct record_options *options,
		  const char *folder)
{
	struct dagtap_error error;
	struct bundle_meta meta = {
		.version = (char *)DAGTAP_VERSION,
		.start_ns = clock_read_ns(CLOCK_REALTIME),
	};
	int status = 0;
	int result = prepare_environment(self, options, folder);

	if (result != CLI_OK || launch_run(options->program, &status, &error) < 0) {
		gather_remove(folder);
		return result != CLI_OK ? result : cli_fail_error(&error);
	}
	meta.exit_status = status;
	meta.command = join_words(options->program);
	if (!meta.command)
		return cli_fail("out of memory; the spools stay in %s", folder);
	result = gather(options, folder, &meta);
	free(meta.command);
	/* The program's own code comes first; a failure of ours shows when the program had none. */
	return status ? status : result;
}

int cli_record(const struct cli_command *self, int argc, char **argv)
{
	struct record_options options = {0};
	char *folder = NULL;
	int result = parse(self, argc, argv, &options);

	if (result == CLI_OK && options.help) {
		result = cli_help(self);
	} else if (result == CLI_OK) {
		folder = spool_folder(options.output);
		result = folder ? make_folder(self, &options, folder) : cli_fail("out of memory");
		if (result == CLI_OK)
			result = record(self, &options, folder);
	}
	free(folder);
	free(options.output);
	return result;
}
