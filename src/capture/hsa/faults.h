/* Faults that the runtime tells of: memory faults of a GPU, and errors of queues. Each is recorded,
 * after how far the device has got with every queue, before the program hears of it: mostly that
 * ends the process.
 *
 * The runtime's handlers are ours, and the program's are called by them. */
#ifndef CAPTURE_HSA_FAULTS_H
#define CAPTURE_HSA_FAULTS_H

#include <hsa/hsa.h>

typedef void queue_error_fn(hsa_status_t status, hsa_queue_t *source, void *data);

/* The program's callback of one queue. */
struct queue_errors;

/* For a queue that is about to be made with CALLBACK and DATA (CALLBACK may be NULL): what
 * faults_queue_error is to be given instead. NULL: errors of the queue are not recorded. */
struct queue_errors *faults_route(queue_error_fn *callback, void *data);
/* QUEUE was made so; NULL: none was. ERRORS may be NULL. */
void faults_routed(struct queue_errors *errors, const hsa_queue_t *queue);
/* QUEUE is about to be destroyed. */
void faults_queue_goes(const hsa_queue_t *queue);

/* The callback of such queues. */
queue_error_fn faults_queue_error;

/* From now on memory faults are recorded. Each time that the runtime opens. */
void faults_watch(void);

#endif
