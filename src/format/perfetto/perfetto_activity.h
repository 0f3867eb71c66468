/* What both ways to show an activity share: which track it is on, and what is said about it. */
#ifndef DAGTAP_FORMAT_PERFETTO_ACTIVITY_H
#define DAGTAP_FORMAT_PERFETTO_ACTIVITY_H

#include <stddef.h>
#include <stdint.h>

#include "trace/model.h"

/* A GPU's track: one for each pair of stream and queue, so that both can be told from it. */
struct perfetto_track_key {
	uint32_t process;
	uint32_t queue; /* or one of PERFETTO_QUEUE_ */
	uint32_t stream;
};

/* Stands for a queue: the track of what has no time on the device. */
#define PERFETTO_QUEUE_UNTIMED (TRACE_NONE - 1)

/* What nothing says a queue of: all that a stream of CUDA's runs, and kernels of other tools'
 * files. Without a queue other copies are copy engines'. */
#define PERFETTO_QUEUE_NOT_TOLD (TRACE_NONE - 2)

struct perfetto_tracks {
	const struct trace *trace;
	struct perfetto_track_slot *slots; /* hash table; a power of two */
	uint32_t slot_count;
	uint32_t count;
	int stream_digits; /* readers sort tracks by name: 02 before 10 */
	int queue_digits;
};

void perfetto_tracks_init(struct perfetto_tracks *tracks, const struct trace *trace);
void perfetto_tracks_release(struct perfetto_tracks *tracks);

/* The number of the activity's track, from 1, in the order in which they are first asked for; it is
 * new if it is greater than `count` was before. Negative errno if there is no memory. */
int64_t perfetto_tracks_find(struct perfetto_tracks *tracks, const struct trace_activity *activity);

/* "stream 1, queue 2": the stream first, as that is what the program chose. */
void perfetto_tracks_name(const struct perfetto_tracks *tracks,
			  const struct trace_activity *activity, char *name, size_t size);

#define PERFETTO_ARGS(X)                                                                           \
	X(DEVICE, "device")                                                                        \
	X(QUEUE, "queue")                                                                          \
	X(STREAM, "stream")                                                                        \
	X(CID, "cid")                                                                              \
	X(API, "api")                                                                              \
	X(SCOPE, "scope")                                                                          \
	X(GRAPH, "graph")                                                                          \
	X(EXEC, "exec")                                                                            \
	X(REPLAY, "replay")                                                                        \
	X(NODE, "node")                                                                            \
	X(CONFIDENCE, "confidence")                                                                \
	X(BYTES, "bytes")                                                                          \
	X(REGISTERS, "registers_per_thread")                                                       \
	X(BLIT_KERNEL, "blit_kernel")                                                              \
	X(UNTIMED, "untimed")

enum perfetto_arg_name {
#define X(name, text) PERFETTO_ARG_##name,
	PERFETTO_ARGS(X)
#undef X
		PERFETTO_ARG_COUNT
};

const char *perfetto_arg_name(enum perfetto_arg_name name);

struct perfetto_arg {
	enum perfetto_arg_name name;
	const char *text; /* NULL: a number */
	uint64_t number;
};

#define PERFETTO_PATH_CHARS 1024

struct perfetto_args {
	struct perfetto_arg rows[PERFETTO_ARG_COUNT];
	unsigned count;
	uint32_t path_scope; /* scope of PATH; TRACE_NONE at first */
	char path[PERFETTO_PATH_CHARS];
};

/* Only what applies to the activity. Texts live until the next call. */
void perfetto_args_fill(struct perfetto_args *args, const struct trace *trace,
			const struct trace_activity *activity);

#endif
