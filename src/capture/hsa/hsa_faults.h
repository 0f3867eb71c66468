/* Faults that the runtime reports: memory faults of a GPU, and errors of queues. Each one is
 * recorded, after how far the device has got with every queue, before the program hears of it,
 * because then the process mostly ends.
 *
 * The tool registers its own handlers with the runtime; these call the program's. */
#ifndef CAPTURE_HSA_FAULTS_H
#define CAPTURE_HSA_FAULTS_H

#include <hsa/hsa.h>

/* The callback of a queue for errors, as HSA defines it. */
typedef void queue_error_fn(hsa_status_t status, hsa_queue_t *source, void *data);

/* The program's callback of one queue. Owned by hsa_faults.c, never freed, only used again. */
struct queue_errors;

/* Call before a queue is created with CALLBACK (which may be NULL) and DATA. Returns what to pass
 * as data of faults_queue_error, which is to be the callback instead. Returns NULL when errors of
 * the queue are not to be recorded: create the queue with the program's callback then. Any thread;
 * takes a lock, may allocate. */
struct queue_errors *faults_route(queue_error_fn *callback, void *data);

/* The queue was created so; QUEUE is NULL when the call failed, and ERRORS may be used again.
 * ERRORS may be NULL. */
void faults_routed(struct queue_errors *errors, const hsa_queue_t *queue);

/* QUEUE is about to be destroyed: its callback may be used again for another queue. */
void faults_queue_goes(const hsa_queue_t *queue);

/* The callback of such queues: records the fault, then calls the program's. Called by the runtime's
 * thread. */
queue_error_fn faults_queue_error;

/* Registers the handler of memory faults. Call each time that the runtime opens. */
void faults_watch(void);

#endif
