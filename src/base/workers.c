/* Threads that share the parts of a loop (see workers.h). */
#include "base/workers.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

/* A call of workers_run with several threads. */
struct run {
	workers_part *work;
	void *context;
	_Atomic uint64_t next; /* the part that is handed out next; may exceed `end` */
	_Atomic uint32_t end;  /* no part from here on is begun: the first that failed, or all */
	pthread_mutex_t lock;
	int err; /* of part `end`; protected by the lock */
};

struct worker {
	struct run *run;
	unsigned number;
	pthread_t thread;
};

static _Thread_local bool is_inside; /* this thread does a part */
static _Atomic unsigned limit;	     /* of workers_limit; 0: the number of CPUs */

void workers_limit(unsigned threads)
{
	atomic_store_explicit(&limit, threads, memory_order_relaxed);
}

/* sched_getaffinity fails on machines with more CPUs than a cpu_set_t holds. */
static unsigned cpu_count(void)
{
	cpu_set_t cpus;

	return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? (unsigned)CPU_COUNT(&cpus)
							      : WORKERS_MOST;
}

static unsigned lesser(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

unsigned workers_count(unsigned threads)
{
	unsigned most = atomic_load_explicit(&limit, memory_order_relaxed);

	most = lesser(most == 0 ? cpu_count() : most, WORKERS_MOST);
	return threads == WORKERS_ALL ? most : lesser(threads, most);
}

static int run_alone(uint32_t count, workers_part *work, void *context)
{
	int err = 0;

	for (uint32_t part = 0; part < count && err == 0; part++)
		err = work(context, 0, part);
	return err;
}

/* All parts below the one that failed have been handed out, so the first failure is found. */
static void fail(struct run *run, uint32_t part, int err)
{
	pthread_mutex_lock(&run->lock);
	if (part < atomic_load_explicit(&run->end, memory_order_relaxed)) {
		atomic_store_explicit(&run->end, part, memory_order_relaxed);
		run->err = err;
	}
	pthread_mutex_unlock(&run->lock);
}

/* Relaxed: starting and joining the threads orders everything else. */
static void *do_parts(void *worker_of_run)
{
	const struct worker *worker = worker_of_run;
	struct run *run = worker->run;

	is_inside = true;
	for (;;) {
		uint64_t part = atomic_fetch_add_explicit(&run->next, 1, memory_order_relaxed);
		int err;

		if (part >= atomic_load_explicit(&run->end, memory_order_relaxed))
			break;
		err = run->work(run->context, worker->number, (uint32_t)part);
		if (err < 0)
			fail(run, (uint32_t)part, err);
	}
	is_inside = false;
	return NULL;
}

/* Starts a thread for each worker but the first. Returns how many there are. */
static unsigned start(struct worker *workers, unsigned count)
{
	unsigned started = 1;
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (started < count &&
	       pthread_create(&workers[started].thread, NULL, do_parts, &workers[started]) == 0)
		started++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

int workers_run(unsigned threads, uint32_t count, workers_part *work, void *context)
{
	struct run run = {.work = work, .context = context, .end = count};
	struct worker workers[WORKERS_MOST];
	unsigned started;

	threads = is_inside || count < 2 ? 1 : lesser(workers_count(threads), count);
	if (threads < 2)
		return run_alone(count, work, context);
	pthread_mutex_init(&run.lock, NULL);
	for (unsigned i = 0; i < threads; i++)
		workers[i] = (struct worker){.run = &run, .number = i};
	started = start(workers, threads);
	do_parts(&workers[0]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(workers[i].thread, NULL);
	pthread_mutex_destroy(&run.lock);
	return run.err;
}
