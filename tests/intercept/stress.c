/* intercept-stress SEED [threads]: 16 threads submit to 4 queues, which are destroyed with
 * packets in flight and created again. With "threads" the program does only that. Otherwise the
 * process also forks, and the seed selects how it ends: by returning from main, by exit() or
 * SIGKILL at some moment, or by exit() in a signal handler. The program does not check which
 * packets run; it must end and must not crash. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device_queue.h"

#define THREADS	      16
#define QUEUES	      4
#define RING	      256
#define ROUNDS	      60
#define BATCH_MOST    40
#define QUEUE_CHANGES 12
#define FORKS	      4

enum end { END_OWN, END_EXIT, END_KILL, END_HANDLER, END_COUNT };

static struct {
	/* Read lock: submit. Write lock: destroy. */
	pthread_rwlock_t lock;
	hsa_queue_t *queue;
} places[QUEUES];

static unsigned seed;
static enum end end;

/* The number of submissions made so far; the other threads choose their moments by it. */
#define SUBMISSIONS ((unsigned)THREADS * ROUNDS)

static struct {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	unsigned submissions;
} progress = {.lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};

static void submission_made(void)
{
	pthread_mutex_lock(&progress.lock);
	progress.submissions++;
	pthread_cond_broadcast(&progress.moved);
	pthread_mutex_unlock(&progress.lock);
}

static void await_submissions(unsigned count)
{
	pthread_mutex_lock(&progress.lock);
	while (progress.submissions < count)
		pthread_cond_wait(&progress.moved, &progress.lock);
	pthread_mutex_unlock(&progress.lock);
}

/* Waits for moment INDEX of COUNT moments that are spread over all submissions. */
static void await_moment(unsigned index, unsigned count, unsigned *random)
{
	unsigned share = SUBMISSIONS / count;

	await_submissions(index * share + (unsigned)rand_r(random) % share);
}

/* The caller holds the place's lock for reading. */
static void submit(hsa_queue_t *queue, unsigned *random)
{
	uint64_t count = rand_r(random) % 3 ? 1 + (uint64_t)rand_r(random) % BATCH_MOST : 1;
	hsa_signal_t signal = {rand_r(random) % 2 ? 0 : 1};
	uint64_t first;

	if (signal.handle)
		signal = signal_make((hsa_signal_value_t)count);
	first = hsa_queue_add_write_index_screlease(queue, count);
	for (uint64_t i = 0; i < count; i++) {
		hsa_kernel_dispatch_packet_t packet;

		dispatch_fill(&packet, (uint32_t)i, signal);
		packet_put(queue, first + i, &packet,
			   HSA_PACKET_TYPE_KERNEL_DISPATCH |
				   (rand_r(random) % 2 ? HEADER_BARRIER : 0));
	}
	queue_ring(queue, first + count - 1);
	if (!signal.handle)
		return;
	signal_await(signal);
	HSA_CHECK(hsa_signal_destroy(signal));
}

static void *submit_for_long(void *argument)
{
	unsigned random = seed * 100 + (unsigned)(uintptr_t)argument;

	for (int i = 0; i < ROUNDS; i++) {
		int place = rand_r(&random) % QUEUES;

		pthread_rwlock_rdlock(&places[place].lock);
		submit(places[place].queue, &random);
		pthread_rwlock_unlock(&places[place].lock);
		submission_made();
	}
	return NULL;
}

/* Destroys and creates queues. Packets in flight without a signal are lost with their queue. */
static void *change_queues(void *unused)
{
	unsigned random = seed * 100 + 50;

	(void)unused;
	for (int i = 0; i < QUEUE_CHANGES; i++) {
		int place = rand_r(&random) % QUEUES;

		await_moment((unsigned)i, QUEUE_CHANGES, &random);
		pthread_rwlock_wrlock(&places[place].lock);
		HSA_CHECK(hsa_queue_destroy(places[place].queue));
		places[place].queue = queue_make(RING);
		pthread_rwlock_unlock(&places[place].lock);
	}
	return NULL;
}

/* A child that is forked while the parent is in exit() finds the C library's lock held, so it
 * ends with _exit. */
static void be_child(unsigned way)
{
	bool parent_exits = end == END_EXIT || end == END_HANDLER;

	switch (parent_exits && way % 3 == 1 ? 0 : way % 3) {
	case 0:
		_exit(0);
	case 1:
		exit(0);
	default:
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
}

static void *fork_children(void *unused)
{
	unsigned random = seed * 100 + 60;

	(void)unused;
	for (int i = 0; i < FORKS; i++) {
		unsigned way = (unsigned)rand_r(&random);
		pid_t child;
		int status;

		await_moment((unsigned)i, FORKS, &random);
		child = fork();
		if (!child)
			be_child(way);
		if (child < 0 || waitpid(child, &status, 0) != child || status)
			driver_fail("a child of kind %u ended with 0x%x", way % 3,
				    (unsigned)status);
	}
	return NULL;
}

static pthread_t main_thread;

static void exit_in_handler(int signal)
{
	exit(0);
}

static void *end_early(void *unused)
{
	unsigned random = seed * 100 + 70;

	await_moment(0, 1, &random);
	if (end == END_KILL)
		raise(SIGKILL);
	if (end == END_HANDLER)
		pthread_kill(main_thread, SIGALRM);
	else
		exit(0);
	return unused;
}

static pthread_t start(void *(*body)(void *), void *argument)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, body, argument))
		driver_fail("a thread cannot be made");
	return thread;
}

/* exit() is not allowed in a handler that interrupts the C library. Only the main thread, which
 * waits for the other threads, takes the signal. */
static void take_alarm(bool takes)
{
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(takes ? SIG_UNBLOCK : SIG_BLOCK, &alarm, NULL);
}

static void plan_end(void)
{
	main_thread = pthread_self();
	if (end == END_HANDLER)
		signal(SIGALRM, exit_in_handler);
	if (end != END_OWN)
		start(end_early, NULL);
}

static void run(bool forks)
{
	pthread_t threads[THREADS + 2];
	int count = 0;

	take_alarm(false);
	for (; count < THREADS; count++)
		threads[count] = start(submit_for_long, (void *)(uintptr_t)count);
	threads[count++] = start(change_queues, NULL);
	if (forks)
		threads[count++] = start(fork_children, NULL);
	take_alarm(true);
	while (count)
		pthread_join(threads[--count], NULL);
	/* The signal comes at some time after this, however late. */
	while (end != END_OWN)
		pause();
}

int main(int argc, char **argv)
{
	bool wild = argc == 2;

	if (argc < 2)
		driver_fail("usage: intercept-stress SEED [threads]");
	seed = (unsigned)strtoul(argv[1], NULL, 10);
	end = wild ? seed % END_COUNT : END_OWN;
	device_start();
	for (int i = 0; i < QUEUES; i++) {
		pthread_rwlock_init(&places[i].lock, NULL);
		places[i].queue = queue_make(RING);
	}
	plan_end();
	run(wild);
	for (int i = 0; i < QUEUES; i++)
		HSA_CHECK(hsa_queue_destroy(places[i].queue));
	device_end();
	return 0;
}
