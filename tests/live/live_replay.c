/* live-replay SPOOL SEED TIMES: plays SPOOL again TIMES times, each time in another order and with
 * other cuts, and compares what is followed with the whole. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "follow.h"

static const char *path;
static uint64_t seed;
static unsigned times;

static void what_is_followed_is_the_whole(void **state)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *image;

	(void)state;
	assert_true(fd >= 0 && fstat(fd, &status) == 0);
	image = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(image != MAP_FAILED);
	for (unsigned i = 0; i < times; i++) {
		uint32_t most = 1u << (4 + i * 5 % 11);
		uint32_t rows = follow_assert_same(image, (size_t)status.st_size, seed + i, most);

		printf("%s: seed %llu, up to %u records a step: %u rows\n", path,
		       (unsigned long long)seed + i, most, rows);
	}
	munmap(image, (size_t)status.st_size);
	close(fd);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_followed_is_the_whole)};

	if (argc != 4)
		return 2;
	path = argv[1];
	seed = strtoull(argv[2], NULL, 10);
	times = (unsigned)strtoul(argv[3], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
