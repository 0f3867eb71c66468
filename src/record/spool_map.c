/* Creating, growing and mapping the spool file. */
#include "record/spool_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

/* Our descriptor has at least this number. Programs that close "all" descriptors, or choose their
 * own numbers, use lower ones. */
#define FD_FROM 512

#define ZEROS_AT_ONCE 64 /* blocks of 64 KiB in one write: 4 MiB, a window */

static int move_fd_up(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, FD_FROM);

	if (high < 0)
		return fd;
	close(fd);
	return high;
}

static bool is_our_file(const struct spool_map *map, int fd)
{
	struct stat status;

	return fd >= 0 && !fstat(fd, &status) && status.st_dev == map->device &&
	       status.st_ino == map->inode;
}

static int remember_file(struct spool_map *map)
{
	struct stat status;

	if (fstat(map->fd, &status))
		return -errno;
	map->device = status.st_dev;
	map->inode = status.st_ino;
	return 0;
}

/* Opens the file again if the program has closed our descriptor, or has another file under its
 * number. -EBADF if the name now belongs to another file. */
static int recover_fd(struct spool_map *map)
{
	int fd;

	if (is_our_file(map, map->fd))
		return 0;
	fd = open(map->path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!is_our_file(map, fd)) {
		close(fd);
		return -EBADF;
	}
	map->fd = move_fd_up(fd);
	return 0;
}

static int name_file(struct spool_map *map, const char *folder)
{
	char *real = realpath(folder, NULL);
	int length;

	if (!real)
		return -errno;
	length = snprintf(map->path, sizeof(map->path), "%s/%ld.%llu" SPOOL_SUFFIX, real,
			  (long)getpid(), (unsigned long long)clock_read_ns(CLOCK_REALTIME));
	free(real);
	if (length < 0 || (size_t)length + sizeof(".new") > sizeof(map->path))
		return -ENAMETOOLONG;
	snprintf(map->path_at_first, sizeof(map->path_at_first), "%.*s.new", length, map->path);
	return 0;
}

int spool_map_create(struct spool_map *map, const char *folder)
{
	int err = name_file(map, folder);
	int fd;

	if (err)
		return err;
	fd = open(map->path_at_first, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	map->fd = move_fd_up(fd);
	return remember_file(map);
}

static int allocate(struct spool_map *map, uint64_t offset, size_t bytes)
{
	struct rlimit limit;
	int err;

	/* Checked first: a file beyond this limit makes the kernel send SIGXFSZ. */
	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY &&
	    offset + bytes > limit.rlim_cur)
		return -EFBIG;
	do
		err = posix_fallocate(map->fd, (off_t)offset, (off_t)bytes);
	while (err == EINTR);
	return -err;
}

/* Writes zeros, so that the pages are in the page cache before they are mapped. A long write gets
 * large folios where the file system has them. These are then mapped as a whole, which takes a
 * seventh of the time of one fault per page. A write that fails or is short only costs that
 * time. */
static void write_zeros(const struct spool_map *map, uint64_t offset, size_t bytes)
{
	static unsigned char zeros[65536];
	struct iovec pieces[ZEROS_AT_ONCE];

	for (int i = 0; i < ZEROS_AT_ONCE; i++)
		pieces[i] = (struct iovec){zeros, sizeof(zeros)};
	while (bytes >= sizeof(zeros)) {
		size_t count = bytes / sizeof(zeros);
		ssize_t written;

		if (count > ZEROS_AT_ONCE)
			count = ZEROS_AT_ONCE;
		written = pwritev(map->fd, pieces, (int)count, (off_t)offset);
		if (written != (ssize_t)(count * sizeof(zeros)))
			return;
		offset += (uint64_t)written;
		bytes -= (size_t)written;
	}
}

static int touch_pages(unsigned char *memory, size_t bytes)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);

	if (!madvise(memory, bytes, MADV_POPULATE_WRITE))
		return 0;
	/* The pages cannot be provided: a store to them would raise SIGBUS. */
	if (errno != EINVAL)
		return errno == EFAULT ? -EIO : -errno;
	/* Linux before 5.14. No other thread has the address yet, and the pages are zero,
	 * so storing zeros is safe. */
	for (size_t at = 0; at < bytes; at += page_bytes)
		*(volatile unsigned char *)(memory + at) = 0;
	return 0;
}

void spool_map_touch(void *memory, size_t bytes)
{
	madvise(memory, bytes, MADV_POPULATE_WRITE);
}

int spool_map_extend(struct spool_map *map, uint64_t offset, size_t bytes,
		     enum spool_map_pages pages, void **ret_memory)
{
	int err = recover_fd(map);
	void *memory;

	if (!err)
		err = allocate(map, offset, bytes);
	if (err)
		return err;
	if (pages == SPOOL_MAP_TOUCHED)
		write_zeros(map, offset, bytes);
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, map->fd, (off_t)offset);
	if (memory == MAP_FAILED)
		return -errno;
	madvise(memory, bytes, MADV_DONTFORK);
	if (pages == SPOOL_MAP_TOUCHED)
		err = touch_pages(memory, bytes);
	if (err) {
		munmap(memory, bytes);
		return err;
	}
	*ret_memory = memory;
	return 0;
}

int spool_map_publish(struct spool_map *map)
{
	return rename(map->path_at_first, map->path) ? -errno : 0;
}

void spool_map_discard(struct spool_map *map)
{
	if (map->fd >= 0)
		unlink(map->path_at_first);
}

void spool_map_cut(struct spool_map *map, uint64_t length)
{
	/* If this fails, the file ends in zeros, which readers accept, as after a kill. */
	if (!recover_fd(map) && ftruncate(map->fd, (off_t)length))
		return;
}

void spool_map_close(struct spool_map *map)
{
	if (is_our_file(map, map->fd))
		close(map->fd);
	map->fd = -1;
}
