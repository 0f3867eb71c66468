/* The designs that hazard_tool.c can put between program and runtime (hazard_designs.h). The
 * numbers H1 to H23 are those of docs/hsa-timing.md. */
#include "hazard_designs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <hsa/amd_hsa_signal.h>

static bool is_dispatch(const hsa_kernel_dispatch_packet_t *packet)
{
	return (packet->header & 0xff) == HSA_PACKET_TYPE_KERNEL_DISPATCH;
}

static hsa_signal_t make_signal(void)
{
	hsa_signal_t signal = {0};

	hazard_ext.hsa_amd_signal_create_fn(1, 0, NULL, 0, &signal);
	return signal;
}

/* ---- each ----
 *
 * For each dispatch this design creates a signal with an event and a handler, and passes the
 * packets on one by one. The program's own signal is completed by a barrier packet after the
 * kernel (H1 to H3, H12, H13, H16, H22). With HAZARD_LOG it writes a line for each dispatch to a
 * file that a fork child shares (H14, H20). */

static FILE *log_file;

static void each_start(void)
{
	const char *path = getenv("HAZARD_LOG");

	log_file = path ? fopen(path, "a") : NULL;
	/* Short lines stay in the buffer unless the stream is line-buffered. */
	if (log_file && getenv("HAZARD_LOG_LINES"))
		setlinebuf(log_file);
}

static bool forget_signal(hsa_signal_value_t value, void *data)
{
	(void)value;
	(void)data;
	return false;
}

static void each_dispatch(const hsa_kernel_dispatch_packet_t *packet,
			  hsa_amd_queue_intercept_packet_writer writer)
{
	hsa_kernel_dispatch_packet_t kernel = *packet;
	hsa_barrier_and_packet_t behind = {
		.header = HSA_PACKET_TYPE_BARRIER_AND | 1 << HSA_PACKET_HEADER_BARRIER,
		.completion_signal = packet->completion_signal,
	};

	kernel.completion_signal = make_signal();
	hazard_ext.hsa_amd_signal_async_handler_fn(kernel.completion_signal,
						   HSA_SIGNAL_CONDITION_LT, 1, forget_signal, NULL);
	if (log_file)
		fprintf(log_file, "dispatch of kernel object %llx\n",
			(unsigned long long)packet->kernel_object);
	writer(&kernel, 1);
	if (behind.completion_signal.handle)
		writer(&behind, 1);
}

static void each_handler(const void *packets, uint64_t count, uint64_t index, void *data,
			 hsa_amd_queue_intercept_packet_writer writer)
{
	const hsa_kernel_dispatch_packet_t *packet = packets;

	(void)index;
	(void)data;
	for (; count; count--, packet++) {
		if (is_dispatch(packet))
			each_dispatch(packet, writer);
		else
			writer(packet, 1);
	}
}

/* ---- hold and follow ----
 *
 * These designs complete the program's signal when a wait for the kernel's signal has ended.
 * "hold" waits on the thread that submits, so kernels run one at a time (H10). "follow" waits on
 * a thread that waits for one kernel after the other (H18). If kernels depend on later kernels,
 * neither wait ends: the design then prints "hangs 1" and ends the process. */

#define JOBS	   4096
#define WAIT_LOOKS 1000 /* of 1 ms each */

struct job {
	hsa_signal_t kernel;
	hsa_signal_t program;
};

static struct job jobs[JOBS];
static atomic_uint job_count;

static void finish(const struct job *job)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	for (int i = 0; hazard_core.hsa_signal_load_scacquire_fn(job->kernel) > 0; i++) {
		if (i == WAIT_LOOKS) {
			printf("hangs 1\n");
			fflush(stdout);
			_exit(0);
		}
		nanosleep(&pause, NULL);
	}
	if (job->program.handle)
		hazard_core.hsa_signal_subtract_screlease_fn(job->program, 1);
}

static void *follow(void *unused)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	(void)unused;
	for (unsigned i = 0;; i++) {
		while (atomic_load(&job_count) == i)
			nanosleep(&pause, NULL);
		finish(&jobs[i % JOBS]);
	}
	return NULL;
}

static void follow_start(void)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, follow, NULL))
		pthread_detach(thread);
}

static struct job submit(const hsa_kernel_dispatch_packet_t *packet,
			 hsa_amd_queue_intercept_packet_writer writer)
{
	struct job job = {.kernel = make_signal(), .program = packet->completion_signal};
	hsa_kernel_dispatch_packet_t kernel = *packet;

	kernel.completion_signal = job.kernel;
	writer(&kernel, 1);
	return job;
}

static void hold_handler(const void *packets, uint64_t count, uint64_t index, void *data,
			 hsa_amd_queue_intercept_packet_writer writer)
{
	const hsa_kernel_dispatch_packet_t *packet = packets;

	(void)index;
	(void)data;
	for (; count; count--, packet++) {
		if (is_dispatch(packet)) {
			struct job job = submit(packet, writer);

			finish(&job);
		} else {
			writer(packet, 1);
		}
	}
}

static void follow_handler(const void *packets, uint64_t count, uint64_t index, void *data,
			   hsa_amd_queue_intercept_packet_writer writer)
{
	const hsa_kernel_dispatch_packet_t *packet = packets;

	(void)index;
	(void)data;
	for (; count; count--, packet++) {
		if (is_dispatch(packet)) {
			jobs[atomic_load(&job_count) % JOBS] = submit(packet, writer);
			atomic_fetch_add(&job_count, 1);
		} else {
			writer(packet, 1);
		}
	}
}

/* ---- batch ----
 *
 * One signal after the last kernel of each call. Its end is reported for all kernels of the call
 * (H11). */

#define BATCHES 64

static struct batch {
	uint64_t first;
	uint64_t count;
	hsa_signal_t last;
} batches[BATCHES];
static unsigned batch_count;

static void batch_handler(const void *packets, uint64_t count, uint64_t index, void *data,
			  hsa_amd_queue_intercept_packet_writer writer)
{
	const hsa_kernel_dispatch_packet_t *packet = packets;
	hsa_kernel_dispatch_packet_t last = packet[count - 1];

	(void)data;
	if (!is_dispatch(&last) || batch_count == BATCHES) {
		writer(packets, count);
		return;
	}
	last.completion_signal = make_signal();
	batches[batch_count++] = (struct batch){index, count, last.completion_signal};
	if (count > 1)
		writer(packets, count - 1);
	writer(&last, 1);
}

static void batch_end(void)
{
	for (unsigned i = 0; i < batch_count; i++) {
		const amd_signal_t *last = (const amd_signal_t *)(uintptr_t)batches[i].last.handle;

		for (uint64_t k = 0; k < batches[i].count; k++)
			printf("end %llu %llu\n", (unsigned long long)(batches[i].first + k),
			       (unsigned long long)last->end_ts);
	}
}

const struct hazard_design hazard_designs[] = {
	{"each", each_start, each_handler, NULL},
	{"hold", NULL, hold_handler, NULL},
	{"follow", follow_start, follow_handler, NULL},
	{"batch", NULL, batch_handler, batch_end},
};
const size_t hazard_design_count = sizeof(hazard_designs) / sizeof(hazard_designs[0]);
