/*
 * Plays a program, made of the calls of played_driver.h, with different sets of recorded calls, and
 * compares what the recordings say about its waits.
 */
#ifndef TESTS_CUDA_TWICE_H
#define TESTS_CUDA_TWICE_H

#include "cuda_scene.h"

enum play_calls {
	PLAY_CALLS_DEFAULT,	  /* CUPTI is not asked for waits and event records */
	PLAY_CALLS_ALL,		  /* DAGTAP_CALLS=all: CUPTI is asked for them */
	PLAY_CALLS_WITHOUT_WAITS, /* the same, and CUPTI has no waits and event records */
};

/* Plays PROGRAM as a scene (play_scene). Its first call has the correlation id 1. */
struct trace *play_program(struct fixture *fixture, void (*program)(void), enum play_calls calls);

/*
 * Plays PROGRAM with the default and with all calls. Asserts that both recordings have the same
 * waits and dependencies and that their ledgers are closed. Returns the recording with the default.
 */
struct trace *play_twice(struct fixture *fixture, void (*program)(void));

/* Returns the wait by the call CID; asserts that it exists. */
const struct trace_wait *play_find_wait(const struct trace *trace, uint64_t cid);
/* Returns the cid of the event record that this wait is for, or 0. */
uint64_t play_producer_of(const struct trace *trace, uint64_t cid);

#endif
