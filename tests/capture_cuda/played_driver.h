/*
 * Events, waits and streams as a driver plays them: each function makes one call of the runtime,
 * with its parameters, and puts the records that CUPTI brings for it (H200, CUDA 13.0) if the tool
 * has asked for them. A program that is played on it is therefore recorded in either way.
 *
 * Any thread; calls are numbered from the thread's base (driver_number_from).
 */
#ifndef TESTS_PLAYED_DRIVER_H
#define TESTS_PLAYED_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

/* The variant of a function: with the suffix _ptsz, stream 0 is the thread's own. */
enum driver_variant { DRIVER_PLAIN, DRIVER_PTSZ };

/* The calling thread's next call has this correlation id. */
void driver_number_from(uint32_t correlation);

/* Makes the following calls of the thread fail with this result; 0: succeed. */
void driver_fail(int result);

/* The life of an event. Its handle may be used again; CUPTI gives each event its own number. */
void driver_create_event(uint64_t event);
void driver_destroy_event(uint64_t event);

/* STREAM records EVENT; STREAM waits for its last record. */
void driver_record(uint64_t event, uint64_t stream, enum driver_variant variant);
void driver_stream_wait(uint64_t stream, uint64_t event, enum driver_variant variant);

/* The host waits, or asks and is told that there is nothing to wait for. */
void driver_wait_for_event(uint64_t event);
void driver_query_event(uint64_t event); /* it has happened */
void driver_wait_for_stream(uint64_t stream, enum driver_variant variant);
void driver_query_stream(uint64_t stream); /* it has nothing left to do */
void driver_wait_for_device(void);

/* A kernel of that name on STREAM. */
void driver_kernel(uint64_t stream, enum driver_variant variant, const char *name);

/*
 * Between begin and end, records on the stream, waits for them, and records on the streams that
 * wait become edges of a graph. At most one capture at a time.
 */
void driver_begin_capture(uint64_t stream);
void driver_end_capture(uint64_t stream);

/* Records EVENT in the capture as a node of its own, cudaEventRecordExternal. */
void driver_record_node(uint64_t event, uint64_t stream, uint32_t graph, uint64_t node);
/* Launches EXEC, whose only node records EVENT. */
void driver_launch_recorder(uint32_t exec, uint64_t event, uint64_t stream);

/*
 * A record in two halves, so that other threads can make calls meanwhile; it counts from the first
 * half on.
 */
void driver_record_enter(uint64_t event, uint64_t stream);
void driver_record_leave(void);

#endif
