/* Rows of the model (trace_model.h): events, their records, and waits. */
#ifndef DAGTAP_TRACE_MODEL_WAITS_H
#define DAGTAP_TRACE_MODEL_WAITS_H

#include <stdbool.h>
#include <stdint.h>

/* An event of HIP or CUDA. Ordered by (process, first use). An event that is created with the
 * handle of a destroyed one is a row of its own. */
struct trace_event {
	uint32_t process;
	uint64_t handle;     /* HIP: the pointer; CUDA: CUPTI's number, or ours from 1 on */
	uint32_t generation; /* number of events that had this handle before */
	/* Opened from another process; the recording does not tell which call records it. */
	bool is_foreign;
};

struct trace_event_record { /* A record of an event on a stream. Ordered by (process, cid). */
	uint32_t process;
	uint32_t call;
	uint64_t cid;
	uint32_t stream; /* index into streams (0 is a stream too); TRACE_NONE = unknown */
	uint32_t event;	 /* index into events */
	/* Node that recorded the event, if CALL launched a graph; TRACE_NONE: the call did. */
	uint32_t node;
	uint32_t context;  /* CUPTI's number, 0 = none or not known */
	uint64_t order;	   /* ascends with each record of the event, 0 = not known */
	int64_t device_ns; /* host ns at which the stream reached the record; 0 = not known */
};

/* Which side waits, and for what. */
enum trace_wait_type {
	TRACE_WAIT_UNKNOWN,
	TRACE_WAIT_EVENT,	 /* the host waits for an event */
	TRACE_WAIT_STREAM_EVENT, /* a stream waits for an event */
	TRACE_WAIT_STREAM,	 /* the host waits for all work of a stream */
	TRACE_WAIT_DEVICE	 /* the host waits for all streams of a device or context */
};

/* How it is known what a wait waited for, or that one thing came after another. */
enum trace_known {
	TRACE_KNOWN_NOT,    /* not known */
	TRACE_KNOWN_NUMBER, /* the vendor gave both sides the same number */
	/* The last record of the event before the wait, in the order of calls. */
	TRACE_KNOWN_ORDER,
	/* The same, but not certain: calls overlapped or were lost. */
	TRACE_KNOWN_LIKELY,
	TRACE_KNOWN_FILE /* taken from another tool's file */
};

/* A wait of the host or of a stream. Ordered by (process, cid). */
struct trace_wait {
	uint32_t process;
	uint32_t call;
	uint64_t cid;
	int64_t begin_ns, end_ns; /* interval of the host's call */
	enum trace_wait_type type;
	/* How `producer` is known, or how it is known that there is none. */
	enum trace_known known;
	/* that waits or is waited for; TRACE_NONE = none or unknown */
	uint32_t stream;
	uint32_t event; /* index into events, TRACE_NONE = not a wait for an event */
	/* Index into event_records; TRACE_NONE: nothing to wait for, or recorded before. */
	uint32_t producer;
	uint32_t context; /* CUPTI's number, 0 = none or not known */
	uint64_t order;	  /* trace_event_record.order of that record, 0 = not known */
	int32_t result;	  /* of the wait, as the vendor's library gave it */
};

#endif
