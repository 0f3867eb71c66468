/* Scenes about the modes: packets that reach the device, signals that are in use, and kernels
 * one at a time. */
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <hsa/amd_hsa_signal.h>

#include "hsa_scene.h"

#define STEADY_BATCH   50
#define STEADY_BATCHES 100

/* ---- packets that reach the device ---- */

static const char *const watched[] = {
	"packets_kernel_dispatch",
	"packets_barrier_and",
	"packets_vendor",
	"barrier_bits",
	"doorbells",
	"signals_created_interrupt",
	"signals_created_memory",
	"handlers_armed",
	"signals_without_event",
	"packets_agent_dispatch",
};
#define WATCHED (sizeof(watched) / sizeof(watched[0]))

/* A batch with one doorbell; the last packet has the application's signal. */
static void batch(hsa_queue_t *queue, hsa_signal_t done)
{
	uint64_t first = hsa_queue_add_write_index_screlease(queue, STEADY_BATCH);

	hsa_signal_store_relaxed(done, 1);
	for (uint64_t i = 0; i < STEADY_BATCH; i++)
		dispatch_put(queue, first + i, i + 1 == STEADY_BATCH ? done : none);
	ring(queue, first + STEADY_BATCH - 1);
	signal_await(done);
}

static void print_left(const char *key, uint64_t value)
{
	printf("%s %llu\n", key, (unsigned long long)value);
}

/* Prints the device's counters since the first batches. */
static void scene_steady(void)
{
	hsa_queue_t *queue = queue_make(64);
	hsa_signal_t done = signal_make(1);
	uint64_t before[WATCHED];

	for (int i = 0; i < 4; i++)
		batch(queue, done);
	for (size_t i = 0; i < WATCHED; i++)
		before[i] = device_count(watched[i]);
	for (int i = 0; i < STEADY_BATCHES; i++)
		batch(queue, done);
	for (size_t i = 0; i < WATCHED; i++)
		print_left(watched[i], device_count(watched[i]) - before[i]);
	drain(queue);
	HSA_CHECK(hsa_signal_destroy(done));
	HSA_CHECK(hsa_queue_destroy(queue));
	print_left("queues_left",
		   device_count("queues_created") - device_count("queues_destroyed"));
	print_left("signals_left", device_count("signals_created_interrupt") +
					   device_count("signals_created_memory") -
					   device_count("signals_destroyed"));
}

#define LONG_WARM   400
#define LONG_PLAYS  6000
#define LONG_SETTLE 20

static uint64_t anonymous_kb(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	unsigned long long kb = 0;
	char line[256];

	CHECK(status);
	while (fgets(line, sizeof(line), status))
		sscanf(line, "RssAnon: %llu", &kb);
	fclose(status);
	return kb;
}

/* Lets a profiler (tests/sdk/client.c) get everything until now, if there is one. What waits for it
 * is then no more than what was dispatched since the last time. */
static void settle(void)
{
	void (*flush)(void);

	*(void **)&flush = dlsym(RTLD_DEFAULT, "sdk_client_flush");
	if (flush)
		flush();
}

/* Prints how much memory many dispatches take. */
static void scene_long(void)
{
	hsa_queue_t *queue = queue_make(64);
	hsa_signal_t done = signal_make(1);
	uint64_t before = 0;

	for (int i = 0; i < LONG_WARM + LONG_PLAYS; i++) {
		if (i % LONG_SETTLE == 0)
			settle();
		if (i == LONG_WARM)
			before = anonymous_kb();
		batch(queue, done);
	}
	settle();
	print_left("grown_kb", anonymous_kb() > before ? anonymous_kb() - before : 0);
	HSA_CHECK(hsa_signal_destroy(done));
	HSA_CHECK(hsa_queue_destroy(queue));
}

#define OUTSTANDING 5000

/* Puts more kernels in flight than a process may have events. */
static void scene_outstanding(void)
{
	hsa_queue_t *queue = queue_make(8192);
	uint64_t first = hsa_queue_add_write_index_screlease(queue, OUTSTANDING);

	for (uint64_t i = 0; i < OUTSTANDING; i++)
		dispatch_put(queue, first + i, none);
	ring(queue, first + OUTSTANDING - 1);
	drain(queue);
	CHECK(atomic_load(&ran) == OUTSTANDING);
	print_left("signals_without_event", device_count("signals_without_event"));
	HSA_CHECK(hsa_queue_destroy(queue));
}

#define LARGE_QUEUE 16384
/* The number of signals that a tool may make with such a queue; later it makes this many ahead. */
#define AHEAD	    8192
#define SECOND	    8000

static void burst(hsa_queue_t *queue, uint32_t count)
{
	uint64_t first = hsa_queue_add_write_index_screlease(queue, count);

	for (uint32_t i = 0; i < count; i++)
		dispatch_put(queue, first + i, none);
	ring(queue, first + count - 1);
	drain(queue);
}

/* Fills the whole queue with kernels at once as its first work, then submits more when the tool
 * has made signals for them. */
static void scene_large_queue(void)
{
	uint64_t before = device_count("signals_created_memory");
	hsa_queue_t *queue = queue_make(LARGE_QUEUE);

	print_left("signals_with_queue", device_count("signals_created_memory") - before);
	burst(queue, LARGE_QUEUE);
	softgpu_await("signals_created_memory", before + LARGE_QUEUE + AHEAD);
	burst(queue, SECOND);
	CHECK(atomic_load(&ran) == LARGE_QUEUE + SECOND);
	HSA_CHECK(hsa_queue_destroy(queue));
}

#define WITHOUT_SLOTS 20000

/* One kernel of an unknown kernel object takes a minute and holds the oldest completion slot,
 * while other kernels run beside it until the remaining slots are used up. */
static void scene_no_slots(void)
{
	hsa_queue_t *queue = queue_make(64);
	hsa_signal_t held = signal_make(1);
	uint64_t signals =
		device_count("signals_created_memory") + device_count("signals_created_interrupt");

	for (uint64_t i = 0; i <= WITHOUT_SLOTS; i++) {
		uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);
		hsa_kernel_dispatch_packet_t packet = dispatch_packet(index, i ? none : held);

		if (!i)
			packet.kernel_object = (uint64_t)(uintptr_t)queue;
		packet_put(queue, index, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH);
		ring(queue, index);
	}
	softgpu_await("packets_ended", WITHOUT_SLOTS);
	print_left("signals_created", device_count("signals_created_memory") +
					      device_count("signals_created_interrupt") - signals);
	HSA_CHECK(hsa_queue_destroy(queue));
	HSA_CHECK(hsa_signal_destroy(held));
}

/* A queue on which profiling is off, so the device writes no times. */
static void scene_no_profiling(void)
{
	hsa_queue_t *queue = queue_make(64);
	hsa_signal_t done = signal_make(1);

	HSA_CHECK(hsa_amd_profiling_set_profiler_enabled(queue, 0));
	dispatch(queue, done);
	signal_await(done);
	HSA_CHECK(hsa_queue_destroy(queue));
	HSA_CHECK(hsa_signal_destroy(done));
}

#define TOLD 50

/* Prints the signal handle of each packet. */
static void scene_told(void)
{
	hsa_queue_t *queue = queue_make(64);
	hsa_signal_t signals[TOLD];

	for (int i = 0; i < TOLD; i++) {
		signals[i] = signal_make(1);
		printf("signal %llx\n", (unsigned long long)signals[i].handle);
		dispatch(queue, signals[i]);
	}
	for (int i = 0; i < TOLD; i++) {
		signal_await(signals[i]);
		HSA_CHECK(hsa_signal_destroy(signals[i]));
	}
	HSA_CHECK(hsa_queue_destroy(queue));
}

/* ---- what the submitting thread does ---- */

static atomic_uint writes;

/* Handler that runs instead of the system call and reports that all bytes were written. */
static void count_write(int number, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)number;
	(void)info;
	atomic_fetch_add(&writes, 1);
	registers[REG_RAX] = registers[REG_RDX];
}

/* From here on this thread's write calls are counted and not made. */
static void watch_writes(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_writev, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
	struct sigaction action = {.sa_sigaction = count_write, .sa_flags = SA_SIGINFO};

	CHECK(!sigaction(SIGSYS, &action, NULL));
	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	CHECK(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

static void *submit_watched(void *queue)
{
	for (int i = 0; i < STEADY_BATCHES; i++)
		dispatch(queue, none);
	watch_writes();
	for (int i = 0; i < STEADY_BATCHES * STEADY_BATCH; i++)
		dispatch(queue, none);
	return NULL;
}

/* Prints how often the thread wrote to a file while it submitted. */
static void scene_quiet(void)
{
	hsa_queue_t *queue = queue_make(64);
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, submit_watched, queue));
	pthread_join(thread, NULL);
	drain(queue);
	HSA_CHECK(hsa_queue_destroy(queue));
	print_left("writes", atomic_load(&writes));
}

/* ---- signals in use ---- */

#define SHARERS 8
#define ROUNDS	40

/* All packets have one doorbell, so the tool sees all of them before the device has any. */
static void dispatch_together(hsa_queue_t *queue, uint64_t count, hsa_signal_t signal)
{
	uint64_t first = hsa_queue_add_write_index_screlease(queue, count);

	for (uint64_t i = 0; i < count; i++)
		dispatch_put(queue, first + i, signal);
	ring(queue, first + count - 1);
}

/* One signal counts several packets on two queues. It is reset or destroyed as soon as it is 0.
 * Of each two packets at least one finds the signal in use. */
static void scene_counted(void)
{
	hsa_queue_t *queues[2] = {queue_make(64), queue_make(64)};
	hsa_signal_t signal = signal_make(SHARERS);

	for (unsigned i = 1; i <= ROUNDS; i++) {
		for (int k = 0; k < SHARERS / 2; k++)
			dispatch_together(queues[k & 1], 2, signal);
		signal_await(signal);
		CHECK(hsa_signal_load_scacquire(signal) == 0);
		CHECK(atomic_load(&ran) == i * SHARERS);
		if (i % 4) {
			hsa_signal_store_screlease(signal, SHARERS);
			continue;
		}
		HSA_CHECK(hsa_signal_destroy(signal));
		signal = signal_make(SHARERS);
	}
	HSA_CHECK(hsa_signal_destroy(signal));
	HSA_CHECK(hsa_queue_destroy(queues[0]));
	HSA_CHECK(hsa_queue_destroy(queues[1]));
}

/* The program learns from a later packet's signal that the earlier packets are done, and resets
 * their signal without having waited for it. */
static void scene_known_elsewhere(void)
{
	hsa_queue_t *queue = queue_make(64);
	hsa_signal_t counted = signal_make(3), last = signal_make(1);

	for (int i = 0; i < ROUNDS; i++) {
		dispatch_together(queue, 3, counted);
		dispatch(queue, last);
		signal_await(last);
		hsa_signal_store_relaxed(last, 1);
		hsa_signal_silent_store_relaxed(counted, 3);
		CHECK(hsa_signal_load_relaxed(counted) == 3);
	}
	/* When the queue is destroyed, the tool has finished with all packets of the queue. */
	HSA_CHECK(hsa_queue_destroy(queue));
	CHECK(hsa_signal_load_scacquire(counted) == 3);
	HSA_CHECK(hsa_signal_destroy(counted));
	HSA_CHECK(hsa_signal_destroy(last));
}

/* The device itself waits for a signal that two packets share. From then on the tool must not
 * borrow that signal. */
static void scene_counted_dependency(void)
{
	hsa_queue_t *queues[2] = {queue_make(64), queue_make(64)};
	hsa_signal_t signal = signal_make(2);

	for (unsigned i = 1; i <= ROUNDS; i++) {
		hsa_signal_t done = signal_make(1);

		barrier(queues[1], signal, none);
		dispatch(queues[1], done);
		dispatch_together(queues[0], 2, signal);
		signal_await(done);
		CHECK(atomic_load(&ran) == 3 * i);
		hsa_signal_store_screlease(signal, 2);
		HSA_CHECK(hsa_signal_destroy(done));
	}
	HSA_CHECK(hsa_signal_destroy(signal));
	HSA_CHECK(hsa_queue_destroy(queues[0]));
	HSA_CHECK(hsa_queue_destroy(queues[1]));
}

/* ---- order ---- */

#define OVERLAPPING 64

/* Kernels without the barrier bit run at the same time. */
static void scene_overlap(void)
{
	hsa_queue_t *queue = queue_make(128);
	uint64_t first = hsa_queue_add_write_index_screlease(queue, OVERLAPPING);

	for (uint64_t i = 0; i < OVERLAPPING; i++) {
		dispatch_put(queue, first + i, none);
		*(uint16_t *)(void *)packet_at(queue, first + i) = HSA_PACKET_TYPE_KERNEL_DISPATCH;
	}
	ring(queue, first + OVERLAPPING - 1);
	drain(queue);
	HSA_CHECK(hsa_queue_destroy(queue));
}

#define CHAIN_QUEUES 4
#define CHAIN_LENGTH 25

/* The kernel of each queue waits for the kernel of the next queue; the kernel that waits for
 * none is submitted last. */
static void scene_chain(void)
{
	hsa_queue_t *queues[CHAIN_QUEUES];
	hsa_signal_t signals[CHAIN_QUEUES];

	for (int q = 0; q < CHAIN_QUEUES; q++) {
		queues[q] = queue_make(256);
		signals[q] = signal_make(1);
	}
	for (unsigned i = 1; i <= CHAIN_LENGTH; i++) {
		for (int q = 0; q < CHAIN_QUEUES; q++) {
			if (q + 1 < CHAIN_QUEUES)
				barrier(queues[q], signals[q + 1], none);
			dispatch(queues[q], signals[q]);
		}
		for (int q = 0; q < CHAIN_QUEUES; q++)
			signal_await(signals[q]);
		CHECK(atomic_load(&ran) == i * CHAIN_QUEUES);
		for (int q = 0; q < CHAIN_QUEUES; q++)
			hsa_signal_store_screlease(signals[q], 1);
	}
	for (int q = 0; q < CHAIN_QUEUES; q++) {
		HSA_CHECK(hsa_signal_destroy(signals[q]));
		HSA_CHECK(hsa_queue_destroy(queues[q]));
	}
}

#define CROWD_THREADS 4
#define CROWD_EACH    25

static void *crowd(void *queue)
{
	for (int i = 0; i < CROWD_EACH; i++)
		dispatch(queue, none);
	drain(queue);
	return NULL;
}

/* Queues whose kernels would run at the same time. */
static void start_crowd(hsa_queue_t **queues, pthread_t *threads)
{
	for (int i = 0; i < CROWD_THREADS; i++) {
		queues[i] = queue_make(64);
		pthread_create(&threads[i], NULL, crowd, queues[i]);
	}
}

static void end_crowd(hsa_queue_t **queues, const pthread_t *threads)
{
	for (int i = 0; i < CROWD_THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK(atomic_load(&ran) == CROWD_THREADS * CROWD_EACH);
	for (int i = 0; i < CROWD_THREADS; i++)
		HSA_CHECK(hsa_queue_destroy(queues[i]));
}

static void scene_crowd(void)
{
	hsa_queue_t *queues[CROWD_THREADS];
	pthread_t threads[CROWD_THREADS];

	start_crowd(queues, threads);
	end_crowd(queues, threads);
}

/* The clock stands still until a kernel of each queue runs. */
static void scene_crowd_held(void)
{
	hsa_queue_t *queues[CROWD_THREADS];
	pthread_t threads[CROWD_THREADS];

	softgpu_clock_hold();
	start_crowd(queues, threads);
	softgpu_await("packets_kernel_dispatch", CROWD_THREADS);
	softgpu_clock_release();
	end_crowd(queues, threads);
}

const struct scene mode_scenes[] = {
	{"steady", scene_steady},
	{"long", scene_long},
	{"outstanding", scene_outstanding},
	{"no-slots", scene_no_slots},
	{"large-queue", scene_large_queue},
	{"no-profiling", scene_no_profiling},
	{"told", scene_told},
	{"quiet", scene_quiet},
	{"counted", scene_counted},
	{"known-elsewhere", scene_known_elsewhere},
	{"counted-dependency", scene_counted_dependency},
	{"overlap", scene_overlap},
	{"chain", scene_chain},
	{"crowd", scene_crowd},
	{"crowd-held", scene_crowd_held},
	{NULL, NULL},
};
