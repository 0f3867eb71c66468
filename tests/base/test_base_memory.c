/* memory_available, on a machine that is simulated by files. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "../launched.h"
#include "base/memory.h"

#define MIB ((uint64_t)1 << 20)

static char root[TEST_PATH_BYTES];

/* Writes the file and creates the folders above it. */
static void put(const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(path, 0700);
		*at = '/';
	}
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void drop(void)
{
	char command[PATH_MAX];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	assert_int_equal(system(command), 0);
}

static int begin(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(test_path(root, "memory")));
	put("proc/meminfo", "MemTotal:       8388608 kB\nMemAvailable:    4194304 kB\n");
	return 0;
}

static int end(void **state)
{
	(void)state;
	drop();
	return 0;
}

static void machine_alone_says_what_is_available(void **state)
{
	(void)state;
	assert_int_equal(memory_available(root), 4096 * MIB);
	put("proc/self/cgroup", "0::/\n");
	assert_int_equal(memory_available(root), 4096 * MIB);
}

static void no_machine_has_none(void **state)
{
	(void)state;
	drop();
	assert_int_equal(memory_available(root), 0);
	assert_int_equal(mkdir(root, 0700), 0);
}

static void limit_of_any_group_around_holds(void **state)
{
	(void)state;
	put("proc/self/cgroup", "0::/pod/box\n");
	put("sys/fs/cgroup/pod/box/memory.max", "max\n");
	put("sys/fs/cgroup/pod/box/memory.current", "1048576\n");
	put("sys/fs/cgroup/pod/memory.max", "1073741824\n");
	put("sys/fs/cgroup/pod/memory.current", "805306368\n");
	assert_int_equal(memory_available(root), 256 * MIB);
	put("sys/fs/cgroup/pod/memory.stat",
	    "anon 1\nactive_file 7\ninactive_file 104857600\nshmem 3\n");
	assert_int_equal(memory_available(root), 356 * MIB);
	put("sys/fs/cgroup/pod/memory.max", "max\n");
	assert_int_equal(memory_available(root), 4096 * MIB);
}

/* In a container the process sees its own group as the mount's root. */
static void own_group_may_be_the_mount(void **state)
{
	(void)state;
	put("proc/self/cgroup", "0::/\n");
	put("sys/fs/cgroup/memory.max", "104857600\n");
	put("sys/fs/cgroup/memory.current", "52428800\n");
	assert_int_equal(memory_available(root), 50 * MIB);
	put("proc/self/cgroup", "0::/of/the/host\n");
	assert_int_equal(memory_available(root), 50 * MIB);
	put("sys/fs/cgroup/memory.current", "104857601\n");
	assert_int_equal(memory_available(root), 0);
}

static void version_1_limits_too(void **state)
{
	(void)state;
	put("proc/self/cgroup", "5:cpu,cpuacct:/else\n4:memory:/box\n0::/\n");
	put("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "209715200\n");
	put("sys/fs/cgroup/memory/box/memory.usage_in_bytes", "104857600\n");
	put("sys/fs/cgroup/memory/box/memory.stat",
	    "inactive_file 1\ntotal_inactive_file 10485760\n");
	put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	put("sys/fs/cgroup/memory/memory.usage_in_bytes", "1\n");
	assert_int_equal(memory_available(root), 110 * MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(machine_alone_says_what_is_available, begin, end),
		cmocka_unit_test_setup_teardown(no_machine_has_none, begin, end),
		cmocka_unit_test_setup_teardown(limit_of_any_group_around_holds, begin, end),
		cmocka_unit_test_setup_teardown(own_group_may_be_the_mount, begin, end),
		cmocka_unit_test_setup_teardown(version_1_limits_too, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
