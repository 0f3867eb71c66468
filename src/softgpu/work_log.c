/* The work log (work_log.h). The file grows by steps of STEP_BYTES under one mapping of MAP_BYTES,
 * its largest size. So a line never moves in memory, and its end tick can be written later. */
#include "softgpu/work_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "softgpu/config.h"
#include "softgpu/counters.h"
#include "softgpu/executable.h"
#include "softgpu/queue.h"
#include "softgpu/softgpu_threads.h"

#define MAP_BYTES      (16ull << 30)
#define STEP_BYTES     (1ull << 20)
#define MAX_LINE_BYTES 5120 /* room for a kernel's name and the other columns */
#define MAX_PATH_BYTES 512
#define MAX_NAMES      1000 /* files of one process id that are tried */

/* The column of the end tick before the tick is known, and the size of that column. */
#define END_IS_MISSING "?                   "
#define END_BYTES      (sizeof(END_IS_MISSING) - 1)

static const char header[] =
	"type\tagent\tqueue\tindex\tkernel\tgrid_x\tgrid_y\tgrid_z\tworkgroup_x\tworkgroup_y\t"
	"workgroup_z\tkernarg\tsignal\tbegin\tend\tbytes\tsource\tdestination\n";

enum work { DISPATCH, BARRIER_AND, BARRIER_OR, AGENT_DISPATCH, VENDOR, INVALID, COPY, WORK_COUNT };

static const char *const work_names[WORK_COUNT] = {
	"dispatch", "barrier_and", "barrier_or", "agent_dispatch", "vendor", "invalid", "copy"};

/* A line while it is formatted. */
struct line {
	size_t length;
	size_t end_at; /* offset of its end tick */
	char text[MAX_LINE_BYTES];
};

static struct {
	pthread_mutex_t lock;
	int file;  /* -1: not open */
	char *map; /* MAP_BYTES; NULL until work_log_open succeeds */
	uint64_t used;
	uint64_t size; /* of the file */
	uint64_t lines[WORK_COUNT];
	uint64_t copy_bytes;
	uint64_t lost;	/* lines that were dropped because the file could not grow */
	bool is_closed; /* the totals are written: no line may follow */
} work_log = {.lock = PTHREAD_MUTEX_INITIALIZER, .file = -1};

/* ---- the file ---- */

/* Gives PATTERN with the first %p replaced by the process id; without a %p, the id is appended.
 * NUMBER, unless 0, is appended to tell several files of one process id apart. Returns false when
 * the path is too long. */
static bool make_path(const char *pattern, unsigned int number, char *ret_path)
{
	const char *mark = strstr(pattern, "%p");
	int head = mark ? (int)(mark - pattern) : (int)strlen(pattern);
	char suffix[16] = "";
	int length;

	if (number)
		snprintf(suffix, sizeof(suffix), ".%u", number);
	length = snprintf(ret_path, MAX_PATH_BYTES, "%.*s%s%d%s%s", head, pattern, mark ? "" : ".",
			  (int)getpid(), mark ? mark + 2 : "", suffix);
	return length < MAX_PATH_BYTES;
}

/* Creates the file. Never opens one that exists, because another process may have it mapped.
 * Returns the descriptor or a negative errno. */
static int make_file(const char *pattern)
{
	char path[MAX_PATH_BYTES];
	int file = -1;

	for (unsigned int number = 0; file < 0 && number < MAX_NAMES; number++) {
		if (!make_path(pattern, number, path))
			return -ENAMETOOLONG;
		file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (file < 0 && errno != EEXIST)
			return -errno;
	}
	return file < 0 ? -EEXIST : file;
}

/* Makes the file one step larger. Allocates its blocks, because a store into a hole of the file
 * raises SIGBUS when the file system is full. Returns 0 or a negative errno. */
static int grow(void)
{
	int err;

	if (work_log.size == MAP_BYTES)
		return -EFBIG;
	do {
		err = posix_fallocate(work_log.file, (off_t)work_log.size, STEP_BYTES);
	} while (err == EINTR);
	if (!err)
		work_log.size += STEP_BYTES;
	return -err;
}

static int map_file(void)
{
	void *map = mmap(NULL, MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
			 work_log.file, 0);
	int err;

	if (map == MAP_FAILED)
		return -errno;
	err = grow();
	if (err) {
		munmap(map, MAP_BYTES);
		return err;
	}
	madvise(map, MAP_BYTES, MADV_DONTDUMP);
	work_log.map = map;
	return 0;
}

int work_log_open(void)
{
	int err;

	if (!work_log_wanted() || work_log.map)
		return 0;
	work_log.file = make_file(config_get()->work_log);
	if (work_log.file < 0)
		return work_log.file;
	err = map_file();
	if (err) {
		close(work_log.file);
		work_log.file = -1;
		return err;
	}
	work_log.used = (uint64_t)snprintf(work_log.map, STEP_BYTES, "%s#process\tpid=%d\n", header,
					   (int)getpid());
	return 0;
}

bool work_log_wanted(void)
{
	return config_get()->work_log[0] != '\0';
}

/* With the lock held. Stores TEXT behind the last line and returns its offset; 0 when the file
 * cannot grow. */
static uint64_t store(const char *text, size_t length)
{
	uint64_t at = work_log.used;

	if (at + length > work_log.size && grow())
		return 0;
	memcpy(work_log.map + at, text, length);
	work_log.used += length;
	return at;
}

/* ---- lines ---- */

__attribute__((format(printf, 2, 3))) static void line_add(struct line *line, const char *format,
							   ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(line->text + line->length, sizeof(line->text) - line->length, format,
			   arguments);
	va_end(arguments);
	line->length += (size_t)length;
}

/* Adds NAME, with "?" for control characters, which separate columns and lines. */
static void line_add_name(struct line *line, const char *name)
{
	for (; *name; name++)
		line->text[line->length++] = (char)((unsigned char)*name < ' ' ? '?' : *name);
}

static void line_add_times(struct line *line, uint64_t begin_tick)
{
	line_add(line, "\t%" PRIu64 "\t", begin_tick);
	line->end_at = line->length;
	line_add(line, END_IS_MISSING);
}

static uint64_t line_store(const struct line *line, enum work work, uint64_t copy_bytes)
{
	uint64_t at = 0;

	pthread_mutex_lock(&work_log.lock);
	if (work_log.map && !work_log.is_closed) {
		at = store(line->text, line->length);
		work_log.lost += !at;
		work_log.lines[work]++;
		work_log.copy_bytes += copy_bytes;
	}
	pthread_mutex_unlock(&work_log.lock);
	return at ? at + line->end_at : 0;
}

static enum work work_of(uint16_t packet_header)
{
	switch ((uint8_t)(packet_header >> HSA_PACKET_HEADER_TYPE)) {
	case HSA_PACKET_TYPE_KERNEL_DISPATCH:
		return DISPATCH;
	case HSA_PACKET_TYPE_BARRIER_AND:
		return BARRIER_AND;
	case HSA_PACKET_TYPE_BARRIER_OR:
		return BARRIER_OR;
	case HSA_PACKET_TYPE_AGENT_DISPATCH:
		return AGENT_DISPATCH;
	case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
		return VENDOR;
	default:
		return INVALID;
	}
}

static void line_add_dispatch(struct line *line, const hsa_kernel_dispatch_packet_t *packet)
{
	struct softgpu_kernel kernel;

	if (executable_find_kernel(packet->kernel_object, &kernel))
		line_add_name(line, kernel.name);
	else
		line_add(line, "?");
	line_add(line, "\t%u\t%u\t%u\t%u\t%u\t%u\t0x%" PRIx64, packet->grid_size_x,
		 packet->grid_size_y, packet->grid_size_z, packet->workgroup_size_x,
		 packet->workgroup_size_y, packet->workgroup_size_z,
		 (uint64_t)(uintptr_t)packet->kernarg_address);
}

uint64_t work_log_packet(const struct softgpu_queue *queue, uint64_t packet_index,
			 const void *packet, uint64_t begin_tick)
{
	const hsa_kernel_dispatch_packet_t *dispatch = packet;
	enum work work = work_of(dispatch->header);
	struct line line = {.length = 0};

	line_add(&line, "%s\t%u\t%" PRIu64 "\t%" PRIu64 "\t", work_names[work], queue->agent->index,
		 queue->amd.hsa_queue.id, packet_index);
	if (work == DISPATCH)
		line_add_dispatch(&line, dispatch);
	else
		line_add(&line, "\t\t\t\t\t\t\t");
	/* The completion signal has the same place in all types of packets. */
	line_add(&line, "\t%d", dispatch->completion_signal.handle != 0);
	line_add_times(&line, begin_tick);
	line_add(&line, "\t\t\t\n");
	return line_store(&line, work, 0);
}

uint64_t work_log_copy(const struct work_log_copy *copy)
{
	struct line line = {.length = 0};

	line_add(&line, "%s\t%u\t\t\t\t\t\t\t\t\t\t\t", work_names[COPY], copy->agent);
	line_add_times(&line, copy->begin_tick);
	line_add(&line, "\t%zu\t%u\t%u\n", copy->bytes, copy->from, copy->to);
	return line_store(&line, COPY, copy->bytes);
}

/* Stores the first character, a question mark until then, last. If the process is killed in
 * between, the column still begins with it, so a reader knows that the tick is missing. */
void work_log_end(uint64_t place, uint64_t end_tick)
{
	char digits[END_BYTES + 1];

	if (!place)
		return;
	snprintf(digits, sizeof(digits), "%*" PRIu64, (int)END_BYTES, end_tick);
	memcpy(work_log.map + place + 1, digits + 1, END_BYTES - 1);
	__atomic_store_n(work_log.map + place, digits[0], __ATOMIC_RELEASE);
}

/* ---- the end ---- */

static void store_totals(void)
{
	struct line line = {.length = 0};
	uint64_t doorbells = atomic_load(&softgpu_counter_values[SOFTGPU_COUNT_doorbells]);

	line_add(&line, "#total");
	for (int i = 0; i < WORK_COUNT; i++)
		line_add(&line, "\t%s=%" PRIu64, work_names[i], work_log.lines[i]);
	line_add(&line, "\tcopy_bytes=%" PRIu64 "\tdoorbells=%" PRIu64 "\tlost=%" PRIu64 "\n",
		 work_log.copy_bytes, doorbells, work_log.lost);
	store(line.text, line.length);
}

/* The mapping stays, because work that still runs writes its end tick to it. Only threads of the
 * device hold the lock. All POSIX signals are blocked in them, so also an exit in a POSIX signal
 * handler gets the lock. */
__attribute__((destructor)) static void close_at_exit(void)
{
	if (process_is_forked_child() || !work_log.map)
		return;
	pthread_mutex_lock(&work_log.lock);
	store_totals();
	work_log.is_closed = true;
	if (ftruncate(work_log.file, (off_t)work_log.used))
		work_log.size = 0; /* the zeros behind the last line remain, as after a kill */
	pthread_mutex_unlock(&work_log.lock);
}
