/* CUPTI's one subscriber of a process: when it is us (docs/cuda.md, "Who has CUPTI").
 *
 * A recording needs the subscription. Between recordings a process that may record again keeps it,
 * to follow the lives of graphs (cuda_graph_notes.h), but gives it to any other profiler of the
 * process that asks for it: the library exports cuptiSubscribe, and gives it out to look-ups. Where
 * the program does not reach ours, because the library was not preloaded, nothing is kept, except
 * with --wait, which needs the callbacks of cuProfilerStart.
 *
 * Threading: any thread. A lock is held while CUPTI is asked, but neither while it calls back nor
 * while the loader is called. A thread waits for it up to TIMER_SESSION_CHANGE. */
#ifndef DAGTAP_CAPTURE_CUDA_SUBSCRIPTION_H
#define DAGTAP_CAPTURE_CUDA_SUBSCRIPTION_H

#include <stdbool.h>
#include <stddef.h>

#include "vendor/cupti_types.h"

/* Loads CUPTI and subscribes to it with CALLBACK, unless that is done. Returns false with the
 * reason. */
bool cuda_subscription_begin(cupti_callback *callback, char *ret_reason, size_t reason_bytes);
/* Returns CUPTI's handle of us. Valid after a successful begin. */
void *cuda_subscriber(void);
/* The recording is over: unsubscribes, or keeps what the next one needs. */
void cuda_subscription_end(void);

/* CUDA starts in a dormant process: subscribes with CALLBACK, if the subscription is to be kept. */
void cuda_subscription_await(cupti_callback *callback);

/* What our dlsym answers for the function NAME, FOUND in a library: FOUND or our cuptiSubscribe. */
void *cuda_subscription_lookup(const char *name, void *found);

/* In a fork child. */
void cuda_subscription_forget(void);

#endif
