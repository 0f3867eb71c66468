/* Scenes in which tracing, the program or the runtime ends while the device is busy. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "hsa_scene.h"

#include "base/inject.h"

static const struct inject_table *tool_table(void)
{
	void *library = dlopen("libdagtap-inject.so", RTLD_NOLOAD | RTLD_LAZY);

	return library ? dlsym(library, INJECT_SYMBOL) : NULL;
}

/* Ends tracing as a program does that links libdagtap. */
static void stop_tracing(void)
{
	const struct inject_table *table = tool_table();

	if (table)
		table->stop();
}

/* The device waits for a signal before it runs the kernels, so tracing ends before the kernels
 * do, however slow the machine is. */
static void scene_stop_in_flight(void)
{
	hsa_queue_t *queue = queue_make(64);
	hsa_signal_t counted = signal_make(3), own = signal_make(1), held = signal_make(1);

	barrier(queue, held, none);
	for (int i = 0; i < 3; i++)
		dispatch(queue, counted);
	dispatch(queue, own);
	dispatch(queue, none);
	stop_tracing();
	CHECK(hsa_signal_load_relaxed(counted) == 3 && hsa_signal_load_relaxed(own) == 1);
	hsa_signal_store_screlease(held, 0);
	signal_await(counted);
	signal_await(own);
	drain(queue);
	CHECK(atomic_load(&ran) == 5);
	CHECK(hsa_signal_load_relaxed(counted) == 0);
	dispatch(queue, none);
	drain(queue);
	CHECK(atomic_load(&ran) == 6);
	HSA_CHECK(hsa_signal_destroy(counted));
	HSA_CHECK(hsa_signal_destroy(own));
	HSA_CHECK(hsa_signal_destroy(held));
	HSA_CHECK(hsa_queue_destroy(queue));
}

/* Tracing ends between a doorbell and the writing of the slot before it, whose writer does not
 * ring. */
static void scene_stop_before_written(void)
{
	hsa_queue_t *queue = queue_make(64);
	uint64_t first = hsa_queue_add_write_index_screlease(queue, 2);
	hsa_signal_t done = signal_make(1);

	dispatch_put(queue, first + 1, done);
	ring(queue, first + 1);
	stop_tracing();
	CHECK(!atomic_load(&ran));
	dispatch_put(queue, first, none);
	signal_await(done);
	CHECK(atomic_load(&ran) == 2);
	HSA_CHECK(hsa_signal_destroy(done));
	HSA_CHECK(hsa_queue_destroy(queue));
}

#define STOP_THREADS 4
#define STOP_EACH    3000
#define STOP_AFTER   1000

static void *submit(void *queue)
{
	for (int i = 0; i < STOP_EACH; i += 3) {
		uint64_t first = hsa_queue_add_write_index_screlease(queue, 3);

		for (uint64_t k = 0; k < 3; k++)
			dispatch_put(queue, first + k, none);
		ring(queue, first + 2);
	}
	return NULL;
}

/* Tracing ends in the middle of batches. */
static void scene_stop_in_batch(void)
{
	hsa_queue_t *queues[2] = {queue_make(64), queue_make(64)};
	pthread_t threads[STOP_THREADS];

	for (int i = 0; i < STOP_THREADS; i++)
		pthread_create(&threads[i], NULL, submit, queues[i & 1]);
	softgpu_await("packets_kernel_dispatch", STOP_AFTER);
	stop_tracing();
	for (int i = 0; i < STOP_THREADS; i++)
		pthread_join(threads[i], NULL);
	drain(queues[0]);
	drain(queues[1]);
	CHECK(atomic_load(&ran) == STOP_THREADS * STOP_EACH);
	HSA_CHECK(hsa_queue_destroy(queues[0]));
	HSA_CHECK(hsa_queue_destroy(queues[1]));
}

static _Thread_local bool is_stopper;
static sem_t is_draining, may_go_on;

/* Replaces the C library's function, also for the tool. The thread that ends tracing calls it
 * when nothing more is recorded, while it waits for the device; it is held here. */
__attribute__((visibility("default"))) int nanosleep(const struct timespec *pause,
						     struct timespec *left);
int nanosleep(const struct timespec *pause, struct timespec *left)
{
	int err;

	if (is_stopper) {
		is_stopper = false;
		sem_post(&is_draining);
		sem_wait(&may_go_on);
	}
	err = clock_nanosleep(CLOCK_REALTIME, 0, pause, left);
	if (!err)
		return 0;
	errno = err;
	return -1;
}

static void *stop(void *unused)
{
	is_stopper = true;
	stop_tracing();
	/* Also post when the program runs without the tool. */
	sem_post(&is_draining);
	return unused;
}

static void barriers(hsa_queue_t *queue, int count)
{
	while (count--)
		barrier(queue, none, none);
	drain(queue);
}

#define DRAIN_NS 1000000000 /* the tool's configured limit */

/* A kernel of one minute is on the device, so the tool waits for it when tracing ends. Meanwhile
 * the program creates queues, uses them, and destroys one. */
static void scene_late_queues(void)
{
	hsa_queue_t *busy = queue_make(64), *queue = queue_make(64), *late[2];
	pthread_t thread;

	dispatch(busy, signal_make(1));
	barrier(busy, none, none);
	barriers(queue, 2);
	softgpu_await("packets_kernel_dispatch", 1);
	softgpu_clock_hold();
	CHECK(!sem_init(&is_draining, 0, 0) && !sem_init(&may_go_on, 0, 0));
	CHECK(!pthread_create(&thread, NULL, stop, NULL));
	/* From here on the gates of the earlier queues are open, too. */
	sem_wait(&is_draining);
	for (int i = 0; i < 2; i++)
		late[i] = queue_make(64);
	barriers(late[0], 6);
	barriers(late[1], 4);
	barriers(queue, 2);
	HSA_CHECK(hsa_queue_destroy(late[0]));
	/* The tool's time limit is now over, and the kernel has not ended. */
	softgpu_clock_step(DRAIN_NS);
	sem_post(&may_go_on);
	pthread_join(thread, NULL);
	exit(0);
}

static pthread_t main_thread;
static atomic_uint turns; /* turns of the main thread */

static void leave(int number)
{
	(void)number;
	exit(0);
}

/* SCENE_MOMENT is the number of the main thread's turns after which it is interrupted. */
static void *interrupt(void *unused)
{
	const char *moment = getenv("SCENE_MOMENT");
	unsigned count = moment ? (unsigned)strtoul(moment, NULL, 10) : 1;

	while (atomic_load(&turns) < count)
		__builtin_ia32_pause();
	pthread_kill(main_thread, SIGALRM);
	return unused;
}

/* Makes the signal reach the main thread only. */
static void leave_from_handler(void)
{
	pthread_t thread;

	main_thread = pthread_self();
	signal(SIGALRM, leave);
	CHECK(!pthread_create(&thread, NULL, interrupt, NULL));
	pthread_detach(thread);
}

/* The program exits in a signal handler, which may interrupt a submission. */
static void scene_exit_in_handler(void)
{
	hsa_queue_t *queue = queue_make(64);

	leave_from_handler();
	for (;; atomic_fetch_add(&turns, 1))
		dispatch(queue, none);
}

#define JOIN_STACK_BYTES ((size_t)64 << 20) /* more than the C library caches for later threads */

static void *end_at_once(void *unused)
{
	return unused;
}

/* The handler interrupts the thread while it unmaps another thread's stack and holds a lock of
 * the C library. */
static void scene_exit_in_join(void)
{
	hsa_queue_t *queue = queue_make(64);
	pthread_attr_t attributes;
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, JOIN_STACK_BYTES);
	dispatch(queue, none);
	leave_from_handler();
	for (;; atomic_fetch_add(&turns, 1)) {
		pthread_t thread;

		/* Not inside the thread's allocations, where exit() is not allowed in a handler. */
		pthread_sigmask(SIG_BLOCK, &alarm, NULL);
		CHECK(!pthread_create(&thread, &attributes, end_at_once, NULL));
		pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
		pthread_join(thread, NULL);
	}
}

/* The runtime shuts down while kernels run that no thread waits for. */
static void scene_shut_down_in_flight(void)
{
	hsa_queue_t *queue = queue_make(64);

	for (int i = 0; i < 3; i++)
		dispatch(queue, none);
	HSA_CHECK(hsa_shut_down());
	open_device();
}

/* Every queue is destroyed with work on it. Some of that work has completion signals of the
 * application. */
static void scene_destroy_counted(void)
{
	for (int i = 0; i < 20; i++) {
		hsa_queue_t *queue = queue_make(64);
		hsa_signal_t signal = signal_make(4);

		for (int k = 0; k < 4; k++)
			dispatch(queue, signal);
		HSA_CHECK(hsa_queue_destroy(queue));
		CHECK(hsa_signal_load_scacquire(signal) == 0);
		HSA_CHECK(hsa_signal_destroy(signal));
	}
}

const struct scene end_scenes[] = {
	{"stop-in-flight", scene_stop_in_flight},
	{"stop-before-written", scene_stop_before_written},
	{"stop-in-batch", scene_stop_in_batch},
	{"late-queues", scene_late_queues},
	{"exit-in-handler", scene_exit_in_handler},
	{"exit-in-join", scene_exit_in_join},
	{"shut-down-in-flight", scene_shut_down_in_flight},
	{"destroy-counted", scene_destroy_counted},
	{NULL, NULL},
};
