/* What the injected library tells of on the thread where it happens, besides calls of HIP: a tool's
 * callbacks at the begin and at the end, and the records that wait for the delivering thread.
 * Any thread, unless it is said. */
#ifndef DAGTAP_SDK_OBSERVED_H
#define DAGTAP_SDK_OBSERVED_H

#include "sdk/abi.h"
#include "sdk/sdk_contexts.h"

/* What is told of. */
struct observed {
	uint64_t cid, parent;
	uint64_t tid; /* of the thread that began it; 0: the calling one */
	int operation;
	enum sdk_callback_kind callback;
	enum sdk_buffer_kind buffer;
	enum sdk_request_kind request;
	void *payload; /* of the callbacks */
};

/* Of one thread, from a begin to its end. cid 0: the thread is inside of none. Of what a tool
 * causes within a callback nobody is told. */
struct observed_state {
	uint64_t cid;
	uint64_t started; /* contexts that were started at the begin: bits */
	union sdk_user users[SDK_CONTEXTS];
	uint64_t externals[SDK_CONTEXTS];
};

/* Calls the tools, unless the thread is inside of something of this STATE. */
void observed_begin(struct observed_state *state, const struct observed *what);

/* Calls the tools that observed_begin has called, and keeps RECORD of BYTES for each context that
 * wants records. Does nothing without a begin of the same correlation id. Without memory a record
 * is lost, and counted. */
void observed_end(struct observed_state *state, const struct observed *what,
		  struct sdk_record_head *record, size_t bytes);

/* Puts the records that are kept into their buffers. Those that are lost count as dropped there.
 * The source's thread alone. */
void observed_deliver(void);

/* In a child of fork, on its only thread: makes the lock free. */
void observed_reset_lock(void);

#endif
