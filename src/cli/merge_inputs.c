/* See merge_inputs.h. */
#include "cli/merge_inputs.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/output_file.h"
#include "cli/spool_listing.h"

/* ---- folders ---- */

static bool has_spools(const char *folder)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, listing_is_spool, NULL);

	for (int i = 0; i < count; i++)
		free(entries[i]);
	if (count >= 0)
		free(entries);
	return count > 0;
}

int merge_inputs_check_folders(char *const *paths, uint32_t count)
{
	struct stat status;

	for (uint32_t i = 0; i < count; i++) {
		if (stat(paths[i], &status) < 0 || !S_ISDIR(status.st_mode))
			continue;
		if (has_spools(paths[i]))
			return cli_fail("%s: is a folder of spools; give the .dagtap file that "
					"dagtap record makes of them when the program has ended",
					paths[i]);
		return cli_fail("%s: is a folder; give the .dagtap file of each rank", paths[i]);
	}
	return CLI_OK;
}

/* ---- files ---- */

struct file_id {
	const char *path;
	dev_t device;
	ino_t inode;
	uint32_t place; /* on the command line */
};

static int compare_files(const void *left, const void *right)
{
	const struct file_id *a = left, *b = right;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->inode != b->inode)
		return a->inode < b->inode ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

static int tell_repeated_file(struct file_id *files, uint32_t count)
{
	qsort(files, count, sizeof(*files), compare_files);
	for (uint32_t i = 1; i < count; i++) {
		if (files[i].device == files[i - 1].device && files[i].inode == files[i - 1].inode)
			return cli_fail("%s and %s are the same file; give each rank once",
					files[i - 1].path, files[i].path);
	}
	return CLI_OK;
}

int merge_inputs_check_files(const char *output, char *const *paths, uint32_t count)
{
	struct file_id *files = calloc(count, sizeof(*files));
	uint32_t found = 0;
	int err;

	if (!files)
		return cli_fail("out of memory");
	err = output_file_check(output, (const char *const *)paths, count);
	for (uint32_t i = 0; i < count && err == CLI_OK; i++) {
		struct stat status;

		/* A file that is not there is told when it is opened. */
		if (stat(paths[i], &status) == 0)
			files[found++] =
				(struct file_id){paths[i], status.st_dev, status.st_ino, i};
	}
	if (err == CLI_OK)
		err = tell_repeated_file(files, found);
	free(files);
	return err;
}

/* ---- times ---- */

/* Whether PROCESS began at a time that can be, and did not end later than can be. A process of
 * which little is known may end before it starts. */
static bool has_possible_times(const struct trace_process *process)
{
	return process->start_ns >= 0 && process->start_ns <= RANK_CLOCK_TIME_MOST &&
	       process->end_ns <= RANK_CLOCK_TIME_MOST;
}

int merge_inputs_check_times(const char *path, const struct rank_recording *recording)
{
	for (uint32_t k = 0; k < recording->count; k++) {
		const struct trace *trace = recording->traces[k];

		for (uint32_t i = 0; i < trace->processes_count; i++) {
			if (!has_possible_times(&trace->processes[i]))
				return cli_fail("%s: damaged: the times of process %u are not "
						"possible",
						path, trace->processes[i].pid);
		}
	}
	return CLI_OK;
}

/* ---- processes ---- */

struct process_id {
	const struct rank_process *process;
	uint32_t clock; /* of its machine */
};

/* By all that tells two recordings of a process apart. */
static int compare_recordings(const struct process_id *a, const struct process_id *b)
{
	if (a->clock != b->clock)
		return a->clock < b->clock ? -1 : 1;
	if (a->process->start_ns != b->process->start_ns)
		return a->process->start_ns < b->process->start_ns ? -1 : 1;
	if (a->process->pid != b->process->pid)
		return a->process->pid < b->process->pid ? -1 : 1;
	return (a->process->session > b->process->session) -
	       (a->process->session < b->process->session);
}

static int compare_processes(const void *left, const void *right)
{
	const struct process_id *a = left, *b = right;
	int order = compare_recordings(a, b);

	return order ? order
		     : (a->process->file > b->process->file) -
			       (a->process->file < b->process->file);
}

int merge_inputs_check_processes(const struct ranks *ranks, const struct rank_process *processes,
				 uint32_t count)
{
	struct process_id *ids = calloc(count, sizeof(*ids));
	int err = CLI_OK;

	if (!ids)
		return cli_fail("out of memory");
	for (uint32_t i = 0; i < count; i++)
		ids[i] = (struct process_id){&processes[i], ranks->files[processes[i].file].clock};
	qsort(ids, count, sizeof(*ids), compare_processes);
	for (uint32_t i = 1; i < count && err == CLI_OK; i++) {
		const struct rank_process *a = ids[i - 1].process, *b = ids[i].process;

		if (a->file != b->file && compare_recordings(&ids[i - 1], &ids[i]) == 0)
			err = cli_fail("%s and %s hold the same recording of process %u; give each "
				       "rank once",
				       ranks->files[a->file].name, ranks->files[b->file].name,
				       a->pid);
	}
	free(ids);
	return err;
}
