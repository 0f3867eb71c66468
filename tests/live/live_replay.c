/* live-replay SPOOL SEED TIMES: plays SPOOL again TIMES times, each time in another order and with
 * other cuts, and compares what is followed with the whole (follow_file). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "follow.h"

static const char *path;
static uint64_t seed;
static unsigned times;

static void what_is_followed_is_the_whole(void **state)
{
	(void)state;
	follow_file(path, seed, times);
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
