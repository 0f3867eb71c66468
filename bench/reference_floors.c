/* Measurements in child processes, and the floors of reading and exporting: reference_floors.h. */
#include "reference_floors.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "child.h"
#include "wire/proto.h"

#define BUFFER_BYTES ((size_t)1 << 20)
#define RUNS	     3

struct timed {
	int error;
	struct cpu_seconds seconds;
};

/* ---- CPU time ---- */

static double seconds_of(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

struct cpu_seconds cpu_now(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (struct cpu_seconds){seconds_of(&usage.ru_utime), seconds_of(&usage.ru_stime)};
}

struct cpu_seconds cpu_since(struct cpu_seconds begin)
{
	struct cpu_seconds now = cpu_now();

	return (struct cpu_seconds){now.user - begin.user, now.system - begin.system};
}

struct cpu_seconds cpu_median(const struct cpu_seconds *first, size_t count, size_t stride)
{
	for (size_t i = 0; i < count; i++) {
		const struct cpu_seconds *here =
			(const struct cpu_seconds *)((const char *)first + i * stride);
		size_t below = 0;

		for (size_t k = 0; k < count; k++) {
			const struct cpu_seconds *other =
				(const struct cpu_seconds *)((const char *)first + k * stride);
			double difference = cpu_sum(other) - cpu_sum(here);

			below += difference < 0 || (difference == 0 && k < i);
		}
		if (below == count / 2)
			return *here;
	}
	return *first;
}

/* ---- processes ---- */

static void pin_to_core(void)
{
	cpu_set_t set;
	int core = sched_getcpu();

	if (core < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET(core, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

int run_alone(const char *name, void (*work)(const void *context, void *ret_result),
	      const void *context, void *ret_result, size_t result_bytes)
{
	void *shared =
		mmap(NULL, result_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child;
	int err;

	if (shared == MAP_FAILED)
		return -errno;
	child = fork();
	if (child == 0) {
		pin_to_core();
		work(context, shared);
		_exit(0);
	}
	err = child_wait(child, name);
	if (!err)
		memcpy(ret_result, shared, result_bytes);
	munmap(shared, result_bytes);
	if (!err && *(const int *)ret_result < 0) {
		err = *(const int *)ret_result;
		bench_fail(err, "%s: %s", strerror(-err), name);
	}
	return err;
}

int run_alone_times(const char *name, void (*work)(const void *context, void *ret_result),
		    const void *context, void *ret_results, size_t result_bytes, size_t count)
{
	int error = 0;

	for (size_t i = 0; i < count && !error; i++)
		error = run_alone(name, work, context, (char *)ret_results + i * result_bytes,
				  result_bytes);
	return error;
}

static int run_thrice(const char *name, void (*work)(const void *context, void *ret_timed),
		      const void *context, struct cpu_seconds *ret_seconds)
{
	struct timed timed[RUNS] = {0};
	int error = run_alone_times(name, work, context, timed, sizeof(*timed), RUNS);

	if (!error)
		*ret_seconds = cpu_median(&timed[0].seconds, RUNS, sizeof(*timed));
	return error;
}

/* ---- copy ---- */

static void copy_mapped(const char *bytes, size_t length, struct timed *timed)
{
	char *buffer = malloc(BUFFER_BYTES);

	if (!buffer) {
		timed->error = -ENOMEM;
		return;
	}
	for (size_t at = 0; at < length; at += BUFFER_BYTES) {
		size_t rest = length - at;

		memcpy(buffer, bytes + at, rest < BUFFER_BYTES ? rest : BUFFER_BYTES);
		/* keeps the compiler from dropping all copies but the last */
		__asm__ volatile("" ::"r"(buffer) : "memory");
	}
	free(buffer);
}

static void copy_file(const void *context, void *ret_timed)
{
	struct timed *timed = ret_timed;
	struct cpu_seconds begin = cpu_now();
	int fd = open(context, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *mapping;

	if (fd < 0 || fstat(fd, &status)) {
		timed->error = -errno;
		return;
	}
	mapping = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (mapping == MAP_FAILED) {
		timed->error = -errno;
		return;
	}
	copy_mapped(mapping, (size_t)status.st_size, timed);
	timed->seconds = cpu_since(begin);
}

int floor_copy(const char *path, struct cpu_seconds *ret_seconds)
{
	return run_thrice("floor: copy", copy_file, path, ret_seconds);
}

/* ---- touch ---- */

static void touch_memory(const void *context, void *ret_timed)
{
	struct timed *timed = ret_timed;
	size_t bytes = *(const uint64_t *)context;
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	struct cpu_seconds begin = cpu_now();
	char *memory = malloc(bytes);

	if (!memory) {
		timed->error = -ENOMEM;
		return;
	}
	for (size_t at = 0; at < bytes; at += page_bytes)
		*(volatile char *)(memory + at) = 1;
	timed->seconds = cpu_since(begin);
	free(memory);
}

int floor_touch(uint64_t bytes, struct cpu_seconds *ret_seconds)
{
	return run_thrice("floor: touch", touch_memory, &bytes, ret_seconds);
}

/* ---- write ---- */

struct writing {
	const char *path;
	uint64_t bytes;
};

static int write_bytes(int fd, const char *buffer, uint64_t bytes)
{
	uint64_t at = 0;

	while (at < bytes) {
		uint64_t rest = bytes - at;
		ssize_t written =
			pwrite(fd, buffer, rest < BUFFER_BYTES ? rest : BUFFER_BYTES, (off_t)at);

		if (written <= 0)
			return written ? -errno : -EIO;
		at += (uint64_t)written;
	}
	return 0;
}

static void write_file(const void *context, void *ret_timed)
{
	const struct writing *writing = context;
	struct timed *timed = ret_timed;
	char *buffer = calloc(1, BUFFER_BYTES);
	struct cpu_seconds begin;
	int fd;

	unlink(writing->path);
	fd = open(writing->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || !buffer) {
		timed->error = fd < 0 ? -errno : -ENOMEM;
	} else {
		memset(buffer, 1, BUFFER_BYTES);
		begin = cpu_now();
		timed->error = write_bytes(fd, buffer, writing->bytes);
		timed->seconds = cpu_since(begin);
	}
	free(buffer);
}

int floor_write(const char *path, uint64_t bytes, struct cpu_seconds *ret_seconds)
{
	struct writing writing = {.path = path, .bytes = bytes};

	return run_thrice("floor: write", write_file, &writing, ret_seconds);
}

/* ---- encode ---- */

/* Field numbers of XLine, XEvent and XStat. */
enum { LINE_EVENTS = 4, EVENT_METADATA = 1, EVENT_OFFSET = 2, EVENT_DURATION = 3, EVENT_STATS = 4 };
enum { STAT_METADATA = 1, STAT_U64 = 3 };

static void encode_event(struct proto *proto, uint64_t n)
{
	size_t event = proto_begin(proto, LINE_EVENTS);

	proto_put_u64(proto, EVENT_METADATA, n % 146);
	proto_put_u64(proto, EVENT_OFFSET, n * 12000000);
	proto_put_u64(proto, EVENT_DURATION, 9000000 + n % 1024);
	for (uint64_t i = 1; i <= 3; i++) {
		size_t stat = proto_begin(proto, EVENT_STATS);

		proto_put_u64(proto, STAT_METADATA, i);
		proto_put_u64(proto, STAT_U64, n);
		proto_end(proto, stat);
	}
	proto_end(proto, event);
}

static void encode_events(const void *context, void *ret_timed)
{
	struct timed *timed = ret_timed;
	uint64_t count = *(const uint64_t *)context;
	struct cpu_seconds begin = cpu_now();
	struct proto proto;

	proto_init(&proto);
	for (uint64_t n = 0; n < count; n++) {
		encode_event(&proto, n);
		if (proto.used > BUFFER_BYTES)
			proto_reset(&proto);
	}
	timed->error = proto.error;
	proto_release(&proto);
	timed->seconds = cpu_since(begin);
}

int floor_encode(uint64_t count, struct cpu_seconds *ret_seconds)
{
	return run_thrice("floor: encode", encode_events, &count, ret_seconds);
}
