/* What both forms of the Perfetto writer (render stages and track events) share about an activity:
 * the track that it is on, and its arguments.
 *
 * Threading: one thread at a time. */
#ifndef DAGTAP_FORMAT_PERFETTO_ACTIVITY_H
#define DAGTAP_FORMAT_PERFETTO_ACTIVITY_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash_map.h"
#include "format/words.h"
#include "trace/trace_model.h"

/* Identifies a GPU's track. Each pair of stream and queue has a track, so that both can be read
 * from it. */
struct perfetto_track_key {
	uint32_t process; /* index into trace.processes */
	/* index into trace.queues, TRACE_NONE for a copy engine, or one of PERFETTO_QUEUE_* */
	uint32_t queue;
	uint32_t stream; /* index into trace.streams, or TRACE_NONE */
};

/* Stands for a queue: the track of activities without a time on the device. */
#define PERFETTO_QUEUE_UNTIMED (TRACE_NONE - 1)

/* Stands for a queue that is not known: all activities of a CUDA stream, and kernels in other
 * tools' files. Other activities without a queue ran on a copy engine. */
#define PERFETTO_QUEUE_NOT_TOLD (TRACE_NONE - 2)

struct perfetto_tracks {
	const struct trace *trace;
	struct perfetto_track_key *keys; /* owned; by track, in the order of first use */
	uint32_t count;
	struct hash_map map; /* of keys */
	/* readers sort tracks by name, so numbers have leading zeros: 02 before 10 */
	int stream_digits;
	int queue_digits;
};

/* An empty set of tracks. TRACE must outlive it. */
void perfetto_tracks_init(struct perfetto_tracks *tracks, const struct trace *trace);

/* Frees the memory. */
void perfetto_tracks_release(struct perfetto_tracks *tracks);

/* The index of the activity's track in `keys`, or -ENOMEM. The track is new if `count` has grown.
 * Cost: a hash lookup. */
int64_t perfetto_tracks_find(struct perfetto_tracks *tracks, const struct trace_activity *activity);

/* Writes the name of the activity's track, "stream 1, queue 2". The stream comes first because the
 * program chose it. */
void perfetto_tracks_name(const struct perfetto_tracks *tracks,
			  const struct trace_activity *activity, char *name, size_t size);

#define PERFETTO_ARGS(X)                                                                           \
	X(DEVICE, "device")                                                                        \
	X(QUEUE, "queue")                                                                          \
	X(STREAM, "stream")                                                                        \
	X(CID, "cid")                                                                              \
	X(API, "api")                                                                              \
	X(SCOPE, "scope")                                                                          \
	X(LAUNCH_SCOPE, "launch_scope")                                                            \
	X(GRAPH, "graph")                                                                          \
	X(EXEC, "exec")                                                                            \
	X(REPLAY, "replay")                                                                        \
	X(NODE, "node")                                                                            \
	X(CONFIDENCE, "confidence")                                                                \
	X(BYTES, "bytes")                                                                          \
	X(REGISTERS, "registers_per_thread")                                                       \
	X(BLIT_KERNEL, "blit_kernel")                                                              \
	X(UNTIMED, "untimed")

/* The arguments of an activity, in the order of the list. */
enum perfetto_arg_name {
#define X(name, text) PERFETTO_ARG_##name,
	PERFETTO_ARGS(X)
#undef X
		PERFETTO_ARG_COUNT
};

/* The text of an argument's name. */
const char *perfetto_arg_name(enum perfetto_arg_name name);

struct perfetto_arg {
	enum perfetto_arg_name name;
	const char *text; /* NULL: the value is NUMBER */
	uint64_t number;
};

struct perfetto_args {
	struct perfetto_arg rows[PERFETTO_ARG_COUNT];
	unsigned count;
	/* For SCOPE and LAUNCH_SCOPE. The caller sets their scopes to TRACE_NONE before the first
	 * use. */
	struct words_path path, launch_path;
};

/* Fills ARGS with the arguments that apply to the activity. Texts are valid until the next call
 * with the same ARGS. */
void perfetto_args_fill(struct perfetto_args *args, const struct trace *trace,
			const struct trace_activity *activity);

#endif
