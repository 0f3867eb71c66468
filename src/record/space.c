/* Reads the limit of address space and its use. */
#include "record/space.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* The free address space is divided: one of 16 parts for ready chunks, and one of 2 parts for the
 * program. */
#define PARTS_READY                                                                                \
	16 /* ready chunks; with open and unsealed ones the spool takes three times as much */
#define PARTS_KEPT 2

/* Bytes that the process has mapped; 0 if /proc cannot be read. */
static uint64_t read_mapped_bytes(void)
{
	char text[32] = "";
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	return got <= 0 ? 0 : strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Bytes that the process may still map. UINT64_MAX: there is no limit. */
static uint64_t read_left_bytes(void)
{
	struct rlimit limit;
	uint64_t mapped;

	if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	mapped = read_mapped_bytes();
	return !mapped || mapped > limit.rlim_cur ? 0 : limit.rlim_cur - mapped;
}

void space_init(struct space *space)
{
	uint64_t left = read_left_bytes();

	*space = (struct space){
		.is_limited = left != UINT64_MAX,
		.kept_bytes = left / PARTS_KEPT,
	};
}

uint64_t space_ready_most(const struct space *space, uint64_t most)
{
	uint64_t part = space->kept_bytes * PARTS_KEPT / PARTS_READY;

	return space->is_limited && part < most ? part : most;
}

bool space_has(const struct space *space, uint64_t bytes)
{
	uint64_t left = space->is_limited ? read_left_bytes() : UINT64_MAX;

	return left >= bytes && left - bytes >= (space->is_limited ? space->kept_bytes : 0);
}
