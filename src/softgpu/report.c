/* The outputs for the user (report.h), and softgpu_counters. The outputs use write(2) and their own
 * buffers, because stdio would write a copy of its buffer in every forked child. */
#include "softgpu/report.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <dagtap/softgpu.h>

#include "softgpu/config.h"
#include "softgpu/counters.h"
#include "softgpu/softgpu_threads.h"
#include "softgpu/system_state.h"

#define BUFFER_BYTES   65536
#define MAX_LINE_BYTES 1024
#define MAX_PATH_BYTES 512

struct output {
	int file;    /* -1: could not be opened, or is closed */
	size_t used; /* bytes in the buffer */
	char buffer[BUFFER_BYTES];
};

/* A file to which all threads of the device write lines. It is opened for the first line. */
struct line_log {
	pthread_mutex_t lock;
	bool is_open;
	bool is_closed; /* the process is exiting: nothing is written any more */
	struct output output;
};

static struct line_log truth = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct line_log packet_log = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Gives PATTERN with every %p replaced by the process id. */
static void expand_path(const char *pattern, char *ret_path, size_t path_bytes)
{
	size_t used = 0;

	while (*pattern && used + 16 < path_bytes) {
		if (pattern[0] == '%' && pattern[1] == 'p') {
			used += (size_t)snprintf(ret_path + used, 16, "%d", (int)getpid());
			pattern += 2;
		} else {
			ret_path[used++] = *pattern++;
		}
	}
	ret_path[used] = '\0';
}

static void output_open(struct output *output, const char *pattern)
{
	char path[MAX_PATH_BYTES];

	output->used = 0;
	if (!strcmp(pattern, "-")) {
		output->file = dup(STDERR_FILENO);
		return;
	}
	expand_path(pattern, path, sizeof(path));
	output->file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

static void output_flush(struct output *output)
{
	size_t done = 0;

	while (output->file >= 0 && done < output->used) {
		ssize_t written = write(output->file, output->buffer + done, output->used - done);

		if (written <= 0)
			break;
		done += (size_t)written;
	}
	output->used = 0;
}

static void output_close(struct output *output)
{
	output_flush(output);
	if (output->file >= 0)
		close(output->file);
	output->file = -1;
}

__attribute__((format(printf, 2, 3))) static void output_print(struct output *output,
							       const char *format, ...)
{
	va_list arguments;
	int length;

	if (output->used + MAX_LINE_BYTES > sizeof(output->buffer))
		output_flush(output);
	va_start(arguments, format);
	length = vsnprintf(output->buffer + output->used, MAX_LINE_BYTES, format, arguments);
	va_end(arguments);
	if (length >= MAX_LINE_BYTES)
		length = MAX_LINE_BYTES - 1;
	if (length > 0)
		output->used += (size_t)length;
}

bool report_truth_wanted(void)
{
	return config_get()->truth[0] != '\0';
}

/* With the lock held. Opens the file if it is not open. Returns whether a line can be written. */
static bool log_is_ready(struct line_log *log, const char *pattern)
{
	if (log->is_closed || process_is_forked_child())
		return false;
	if (!log->is_open) {
		output_open(&log->output, pattern);
		log->is_open = true;
	}
	return log->output.file >= 0;
}

static void log_close(struct line_log *log)
{
	pthread_mutex_lock(&log->lock);
	log->is_closed = true;
	if (log->is_open)
		output_close(&log->output);
	pthread_mutex_unlock(&log->lock);
}

void report_truth_dispatch(uint64_t queue_id, uint64_t packet_index, const char *kernel,
			   const struct report_span *span)
{
	pthread_mutex_lock(&truth.lock);
	if (log_is_ready(&truth, config_get()->truth))
		output_print(&truth.output,
			     "D %" PRIu64 " %" PRIu64 " %.700s %" PRIu64 " %" PRIu64 " %" PRIu64
			     " %" PRIu64 "\n",
			     queue_id, packet_index, kernel, span->start_ns, span->end_ns,
			     span->start_tick, span->end_tick);
	pthread_mutex_unlock(&truth.lock);
}

void report_truth_copy(const char *direction, uint64_t bytes, const struct report_span *span)
{
	pthread_mutex_lock(&truth.lock);
	if (log_is_ready(&truth, config_get()->truth))
		output_print(&truth.output,
			     "C %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			     direction, bytes, span->start_ns, span->end_ns, span->start_tick,
			     span->end_tick);
	pthread_mutex_unlock(&truth.lock);
}

void report_packet(uint64_t queue_id, uint64_t packet_index, const void *packet)
{
	const uint64_t *words = packet;

	if (!config_get()->packets[0])
		return;
	pthread_mutex_lock(&packet_log.lock);
	if (log_is_ready(&packet_log, config_get()->packets)) {
		output_print(&packet_log.output, "%" PRIu64 " %" PRIu64, queue_id, packet_index);
		for (int i = 0; i < 8; i++)
			output_print(&packet_log.output, " %016" PRIx64, words[i]);
		output_print(&packet_log.output, "\n");
	}
	pthread_mutex_unlock(&packet_log.lock);
}

uint32_t softgpu_counters(uint64_t *ret_values, const char **ret_names, uint32_t capacity)
{
	if (!config_get()->counters)
		return 0;
	for (uint32_t i = 0; i < SOFTGPU_COUNTER_COUNT && i < capacity; i++) {
		if (ret_values)
			ret_values[i] = atomic_load_explicit(&softgpu_counter_values[i],
							     memory_order_relaxed);
		if (ret_names)
			ret_names[i] = softgpu_counter_name((enum softgpu_counter_id)i);
	}
	return SOFTGPU_COUNTER_COUNT;
}

static void write_counters(void)
{
	static struct output output;
	uint64_t values[SOFTGPU_COUNTER_COUNT];
	const char *names[SOFTGPU_COUNTER_COUNT];
	uint32_t count = softgpu_counters(values, names, SOFTGPU_COUNTER_COUNT);

	output_open(&output, config_get()->report);
	output_print(&output, "{\n  \"pid\": %d,\n  \"isa\": \"%s\",\n  \"gpus\": %u,\n",
		     (int)getpid(), config_get()->isa, config_get()->gpus);
	output_print(&output, "  \"counters\": {\n");
	for (uint32_t i = 0; i < count; i++)
		output_print(&output, "    \"%s\": %" PRIu64 "%s\n", names[i], values[i],
			     i + 1 < count ? "," : "");
	output_print(&output, "  }\n}\n");
	output_close(&output);
}

/* A destructor, because HIP never calls hsa_shut_down. A process that did not use the device and a
 * forked child write nothing. */
__attribute__((destructor)) static void report_at_exit(void)
{
	if (process_is_forked_child() || !system_was_up())
		return;
	if (config_get()->report[0])
		write_counters();
	log_close(&truth);
	log_close(&packet_log);
}
