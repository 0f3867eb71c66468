/* Shares the parts of a loop among threads.
 *
 *	static int sum_part(void *context, unsigned worker, uint32_t part);
 *
 *	err = workers_run(threads, part_count, sum_part, &context);
 *
 * The threads live for one call: the calling thread and others that it starts and joins. So there
 * is nothing to create or destroy, and no thread waits between two calls. Parts are handed out in
 * ascending order to whichever thread is free. A result that must not depend on the number of
 * threads is kept by part and put together afterwards, or is one for which the order does not
 * count, such as a sum.
 *
 * Not for the injected library, which starts no thread for work (dagtap_base does not have it; link
 * dagtap_workers). Threading: any thread may call; calls are independent of each other. */
#ifndef DAGTAP_BASE_WORKERS_H
#define DAGTAP_BASE_WORKERS_H

#include <stdint.h>

#define WORKERS_MOST 64

/* Bytes that keep what two threads write all the time out of one cache line: the last member of a
 * struct of which each thread has one, in an array. */
#define WORKERS_APART 64

/* Does part PART. WORKER is below the value of workers_count; no two threads have the same at one
 * time, so it is an index into memory that each thread has of its own. Returns 0 or a negative
 * errno. */
typedef int workers_part(void *context, unsigned worker, uint32_t part);

/* Sets the most threads of all later calls in this process. 0, as in the beginning: one for each
 * CPU that the process may run on. It changes how long a call takes and no result, so it is a
 * setting of the process and not an argument of everything that calls workers_run. */
void workers_limit(unsigned threads);

/* The most threads that a call with THREADS uses: from 1 to WORKERS_MOST. */
unsigned workers_count(unsigned threads);

/* Values of THREADS besides a number: as many as the limit of the process allows. */
#define WORKERS_ALL 0

/* Calls WORK for each part from 0 to COUNT - 1, on at most workers_count(THREADS) threads. What the
 * caller has written before is visible to WORK, and what WORK has written to the caller afterwards.
 *
 * Returns 0, or the error of the first part in ascending order that failed, whatever THREADS is.
 * Parts behind that one may have run or not. If threads cannot be started, those that there are do
 * all parts. A call inside WORK runs on its own thread alone. Threads that are started block all
 * signals. Cost: some 30 us for each thread that is started; none for one thread or one part. */
int workers_run(unsigned threads, uint32_t count, workers_part *work, void *context);

#endif
