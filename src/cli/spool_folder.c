/* Making, clearing and removing the folder of spools, on disk or in memory. */
#include "cli/spool_folder.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/cli.h"
#include "cli/spool_contents.h"
#include "cli/spool_listing.h"

#define MEMORY_FOLDER	   "/dev/shm"
#define MEMORY_PREFIX	   "dagtap-"
#define MEMORY_RANDOM	   6 /* random characters of mkdtemp */
#define MEMORY_BYTES_LEAST ((uint64_t)1 << 30)
#define MEMORY_RINGS_LEAST 8  /* each process has a ring, and the program needs shared memory too */
#define SPOOL_NAME_MOST	   64 /* /PID.NS.spool.new */

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) /* follow no links */

/* ---- names ---- */

/* Makes the folder's path from the output's. Returns CLI_OK, or another cli_exit after a
 * message. */
static int name_folder(const char *output, char **ret_path)
{
	size_t chars = strlen(output);
	char *cwd = NULL, *path;
	int length;

	if (listing_has_suffix(output, ".dagtap"))
		chars -= strlen(".dagtap");
	else if (listing_has_suffix(output, ".dagstats"))
		chars -= strlen(".dagstats");
	if (output[0] != '/' && !(cwd = getcwd(NULL, 0)))
		return cli_fail("%s: the working directory cannot be told: %s", output,
				strerror(errno));
	length = asprintf(&path, "%s%s%.*s.spool", cwd ? cwd : "", cwd ? "/" : "", (int)chars,
			  output);
	free(cwd);
	if (length < 0)
		return cli_fail("out of memory");
	/* The paths of the spools in it are longer by up to SPOOL_NAME_MOST; the output's is
	 * shorter. */
	if (length < PATH_MAX - SPOOL_NAME_MOST) {
		*ret_path = path;
		return CLI_OK;
	}
	free(path);
	return cli_fail("%s: %s", output, strerror(ENAMETOOLONG));
}

/* ---- a ring in memory: OUT.spool is a link to a folder in MEMORY_FOLDER ---- */

/* If BASE is a link of ours to a folder as make_in_memory makes it, gets the folder's name in
 * MEMORY_FOLDER. */
static bool read_memory_link(int parent_fd, const char *base, char *ret_name, size_t size)
{
	static const char prefix[] = MEMORY_FOLDER "/";
	char target[sizeof(prefix) + NAME_MAX];
	ssize_t length = readlinkat(parent_fd, base, target, sizeof(target) - 1);
	const char *drawn = target + sizeof(prefix) - 1 + strlen(MEMORY_PREFIX);
	struct stat status;

	if (length < 0 || fstatat(parent_fd, base, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
	    status.st_uid != geteuid())
		return false;
	target[length] = '\0';
	if (strncmp(target, MEMORY_FOLDER "/" MEMORY_PREFIX, (size_t)(drawn - target)) != 0 ||
	    strlen(drawn) != MEMORY_RANDOM)
		return false;
	for (const char *at = drawn; *at; at++)
		if (!isalnum((unsigned char)*at))
			return false;
	return snprintf(ret_name, size, "%s", target + sizeof(prefix) - 1) < (int)size;
}

static int open_memory(void)
{
	return open(MEMORY_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Opens the folder NAME in MEMORY_FOLDER; -1 with errno. */
static int open_behind(const char *name)
{
	int memory_fd = open_memory();
	int fd = memory_fd < 0 ? -1 : openat(memory_fd, name, FOLDER_FLAGS);
	int code = errno;

	if (memory_fd >= 0)
		close(memory_fd);
	errno = code;
	return fd;
}

/* Removes the folder NAME in MEMORY_FOLDER if it is empty. */
static void remove_behind(const char *name)
{
	int memory_fd = open_memory();

	if (memory_fd < 0)
		return;
	unlinkat(memory_fd, name, AT_REMOVEDIR);
	close(memory_fd);
}

/* Whether there is memory for MEMORY_RINGS_LEAST rings. The file system may have more room than
 * there is free memory, and its files count towards a container's memory limit; so both are
 * checked. */
static bool has_memory_for(uint64_t ring_bytes)
{
	struct statfs status;
	uint64_t bytes = memory_available(""), room;

	if (statfs(MEMORY_FOLDER, &status) < 0 || status.f_type != TMPFS_MAGIC)
		return false;
	room = (uint64_t)status.f_bavail * (uint64_t)status.f_bsize;
	if (room < bytes)
		bytes = room;
	return bytes >= MEMORY_BYTES_LEAST && bytes / MEMORY_RINGS_LEAST >= ring_bytes;
}

/* Makes the folder in memory, and OUT.spool a link to it. A ring's file is written over and over;
 * in memory no disk has to keep up with the program. Returns false if there is no room or it
 * fails; then nothing is left. */
static bool make_in_memory(struct spool_folder *folder, uint64_t ring_bytes)
{
	char target[] = MEMORY_FOLDER "/" MEMORY_PREFIX "XXXXXX";

	_Static_assert(sizeof("XXXXXX") - 1 == MEMORY_RANDOM, "as mkdtemp wants it");
	if (!has_memory_for(ring_bytes) || !mkdtemp(target))
		return false;
	folder->fd = open(target, FOLDER_FLAGS);
	if (folder->fd >= 0 && symlinkat(target, folder->parent_fd, folder->base) == 0)
		return true;
	spool_folder_close(&(struct spool_folder){.parent_fd = -1, .fd = folder->fd});
	folder->fd = -1;
	rmdir(target);
	return false;
}

/* ---- the folder ---- */

/* Locks the folder, because two recordings must not share one; also a process whose dagtap was
 * killed may still write there. A file system without locks is accepted. */
static int lock_folder(int fd, const char *path)
{
	uint32_t pid = listing_find_live(fd);

	if (pid)
		return cli_fail("%s: process %" PRIu32 " of another recording still writes there; "
				"wait for its end, or choose another name",
				path, pid);
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return CLI_OK;
	return cli_fail("%s: another recording still writes there; wait for its end, or choose "
			"another name",
			path);
}

/* Checks that no other user can change the folder while it is cleared. */
static int check_owner(int fd, const char *path)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return cli_fail("%s: %s", path, strerror(errno));
	if (status.st_uid != geteuid())
		return cli_fail("%s: is not yours; remove it, or choose another name for the "
				"recording",
				path);
	if (status.st_mode & (S_IWGRP | S_IWOTH))
		return cli_fail("%s: others may write there; remove it, or choose another name for "
				"the recording",
				path);
	return CLI_OK;
}

/* Opens what has the folder's name, but through no link except one of ours to a ring in memory.
 * *RET_FD: -1 if the ring is gone. */
static int open_named(const struct spool_folder *folder, int *ret_fd)
{
	char behind[NAME_MAX + 1];
	struct stat status;
	bool is_link =
		fstatat(folder->parent_fd, folder->base, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		S_ISLNK(status.st_mode);

	if (is_link && !read_memory_link(folder->parent_fd, folder->base, behind, sizeof(behind)))
		return cli_fail(
			"%s: is a link, which is not followed; remove it, or choose another "
			"name for the recording",
			folder->path);
	*ret_fd = is_link ? open_behind(behind)
			  : openat(folder->parent_fd, folder->base, FOLDER_FLAGS);
	/* ENOENT: a reboot has cleared the memory. */
	if (*ret_fd < 0 && !(is_link && errno == ENOENT))
		return cli_fail("%s: %s", folder->path, strerror(errno));
	return CLI_OK;
}

/* Removes the folder's name, if it still refers to the folder that is open as FD; -1: a ring that
 * is gone. */
static void remove_name(const struct spool_folder *folder, int fd)
{
	char behind[NAME_MAX + 1];
	struct stat held, named;

	if (read_memory_link(folder->parent_fd, folder->base, behind, sizeof(behind))) {
		remove_behind(behind);
		/* The link stays if its folder still has files of others. */
		if (fd < 0 || (fstat(fd, &held) == 0 && held.st_nlink == 0))
			unlinkat(folder->parent_fd, folder->base, 0);
		return;
	}
	if (fstat(fd, &held) == 0 &&
	    fstatat(folder->parent_fd, folder->base, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	    held.st_dev == named.st_dev && held.st_ino == named.st_ino)
		unlinkat(folder->parent_fd, folder->base, AT_REMOVEDIR);
}

/* Whether anything has the folder's name. */
static bool has_name(const struct spool_folder *folder)
{
	struct stat status;

	return fstatat(folder->parent_fd, folder->base, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Removes what an earlier recording left there, if nobody writes there and all files are ours. */
static int clear_earlier(const struct spool_folder *folder)
{
	int fd, err;

	if (!has_name(folder))
		return CLI_OK;
	err = open_named(folder, &fd);
	if (err != CLI_OK)
		return err;
	if (fd >= 0) {
		err = check_owner(fd, folder->path);
		if (err == CLI_OK)
			err = lock_folder(fd, folder->path);
		if (err == CLI_OK)
			err = spool_contents_check(fd, folder->path);
		if (err == CLI_OK)
			spool_contents_remove(fd);
	}
	if (err == CLI_OK)
		remove_name(folder, fd);
	if (fd >= 0)
		close(fd);
	return err;
}

/* ---- making and closing ---- */

/* Says why the folder cannot be made: something of its name is there. */
static int tell_existing(const struct spool_folder *folder)
{
	int fd, err = open_named(folder, &fd);

	if (err != CLI_OK)
		return err;
	if (fd >= 0) {
		err = lock_folder(fd, folder->path);
		close(fd);
	}
	return err != CLI_OK ? err
			     : cli_fail("%s: exists already (spools of a recording that was not "
					"finished; every command reads them); --force replaces it",
					folder->path);
}

static int make_folder(struct spool_folder *folder, const struct spool_folder_options *options)
{
	if (options->memory_bytes && !has_name(folder) &&
	    make_in_memory(folder, options->memory_bytes))
		return lock_folder(folder->fd, folder->path);
	if (mkdirat(folder->parent_fd, folder->base, 0700) == 0) {
		folder->fd = openat(folder->parent_fd, folder->base, FOLDER_FLAGS);
		if (folder->fd >= 0)
			return lock_folder(folder->fd, folder->path);
	}
	return errno == EEXIST ? tell_existing(folder)
			       : cli_fail("%s: %s", folder->output, strerror(errno));
}

/* Makes the names, and opens the folder that the output is to be in. */
static int open_parent(struct spool_folder *folder)
{
	int err = name_folder(folder->output, &folder->path);
	char *slash;

	if (err != CLI_OK)
		return err;
	slash = strrchr(folder->path, '/');
	folder->base = slash + 1;
	*slash = '\0';
	folder->parent_fd = open(slash == folder->path ? "/" : folder->path,
				 O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*slash = '/';
	return folder->parent_fd < 0 ? cli_fail("%s: %s", folder->output, strerror(errno)) : CLI_OK;
}

int spool_folder_open(const char *output, struct spool_folder *ret_folder)
{
	struct spool_folder folder = {.output = output, .parent_fd = -1, .fd = -1};
	int err = open_parent(&folder);

	if (err != CLI_OK) {
		spool_folder_close(&folder);
		return err;
	}
	*ret_folder = folder;
	return CLI_OK;
}

int spool_folder_check_unused(const struct spool_folder *folder)
{
	/* What is no folder is told when the folder is made. */
	int fd = openat(folder->parent_fd, folder->base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err = fd < 0 ? CLI_OK : lock_folder(fd, folder->path);

	if (fd >= 0)
		close(fd);
	return err;
}

int spool_folder_make(struct spool_folder *folder, const struct spool_folder_options *options)
{
	int err = options->force ? clear_earlier(folder) : CLI_OK;

	if (err == CLI_OK)
		err = make_folder(folder, options);
	if (err == CLI_OK && !(folder->real_path = realpath(folder->path, NULL)))
		err = cli_fail("%s: %s", folder->output, strerror(errno));
	return err;
}

void spool_folder_close(struct spool_folder *folder)
{
	if (folder->fd >= 0)
		close(folder->fd);
	if (folder->parent_fd >= 0)
		close(folder->parent_fd);
	free(folder->path);
	free(folder->real_path);
	*folder = (struct spool_folder){.parent_fd = -1, .fd = -1};
}

bool spool_folder_is_there(const struct spool_folder *folder)
{
	struct stat status;

	return fstat(folder->fd, &status) == 0 && status.st_nlink > 0;
}

const char *spool_folder_name(const struct spool_folder *folder)
{
	return access(folder->path, F_OK) < 0 ? folder->real_path : folder->path;
}

void spool_folder_remove(const struct spool_folder *folder)
{
	spool_contents_remove(folder->fd);
	remove_name(folder, folder->fd);
}
