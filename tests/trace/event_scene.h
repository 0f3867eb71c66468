/*
 * HIP calls about events and streams, with times and results that a test sets, and the rows that
 * the loader makes of them. The rows must be the same from a spool, from packed blocks, and in a
 * load that leaves waits out.
 */
#ifndef DAGTAP_TESTS_EVENT_SCENE_H
#define DAGTAP_TESTS_EVENT_SCENE_H

#include "scene.h"

/* X(function, text of its API_NAME record) */
#define EVENT_FUNCTIONS(X)                                                                         \
	X(CREATE, "hipEventCreate event:o")                                                        \
	X(CREATE_FLAGS, "hipEventCreateWithFlags event:o flags:u")                                 \
	X(DESTROY, "hipEventDestroy event:h")                                                      \
	X(OPEN, "hipIpcOpenEventHandle event:o handle:i")                                          \
	X(EXPORT, "hipIpcGetEventHandle handle:p event:h")                                         \
	X(RECORD, "hipEventRecord event:h stream:h")                                               \
	X(RECORD_SPT, "hipEventRecord_spt event:h stream:h")                                       \
	X(RECORD_FLAGS, "hipEventRecordWithFlags event:h stream:h flags:u")                        \
	X(EXT_LAUNCH, "hipExtLaunchKernel function_address:p stream:h startEvent:h stopEvent:h")   \
	X(EXT_MODULE_LAUNCH,                                                                       \
	  "hipExtModuleLaunchKernel globalWorkSizeX:u localWorkSizeX:u hStream:h "                 \
	  "stopEvent:h")                                                                           \
	X(STREAM_WAIT, "hipStreamWaitEvent stream:h event:h flags:u")                              \
	X(STREAM_WAIT_SPT, "hipStreamWaitEvent_spt stream:h event:h flags:u")                      \
	X(EVENT_WAIT, "hipEventSynchronize event:h")                                               \
	X(EVENT_QUERY, "hipEventQuery event:h")                                                    \
	X(EVENT_ELAPSED, "hipEventElapsedTime ms:f start:h stop:h")                                \
	X(STREAM_SYNC, "hipStreamSynchronize stream:h")                                            \
	X(STREAM_SYNC_SPT, "hipStreamSynchronize_spt stream:h")                                    \
	X(DEVICE_SYNC, "hipDeviceSynchronize")                                                     \
	X(CAPTURE_BEGIN, "hipStreamBeginCapture stream:h mode:e")                                  \
	X(CAPTURE_END, "hipStreamEndCapture stream:h pGraph:o")                                    \
	X(MADE, "hipStreamCreate stream:o")                                                        \
	X(MADE_FLAGS, "hipStreamCreateWithFlags stream:o flags:u")                                 \
	X(MADE_PRIORITY, "hipStreamCreateWithPriority stream:o flags:u priority:i")                \
	X(GONE, "hipStreamDestroy stream:h")                                                       \
	X(COPY_SPT, "hipMemcpy_spt dst:p src:p sizeBytes:s kind:e")

enum event_function {
	EVENT_FUNCTION_BEFORE_FIRST = 99,
#define X(name, text) EVENT_FUNCTION_##name,
	EVENT_FUNCTIONS(X)
#undef X
		EVENT_FUNCTION_END
};

struct event_call {
	enum event_function function;
	uint64_t args[4];
	uint64_t cid;	     /* 0: the next unused cid */
	uint64_t begin, end; /* ns; 0: begins after the last call and takes 100 ns */
	int32_t result;
	unsigned writer;
	uint32_t activities;
};

/* Fills SCENE, with one process and one writer and no records yet. */
void event_scene_init(struct scene *scene);

/* A case whose state is such a scene; its trace is closed with it (scene_teardown). */
int event_scene_setup(void **state);
#define EVENT_CASE(name) cmocka_unit_test_setup_teardown(name, event_scene_setup, scene_teardown)

/* Records the call; returns its cid. */
uint64_t event_scene_call(struct scene *scene, const struct event_call *call);

#define EVENT_CALL(scene, ...) event_scene_call((scene), &(const struct event_call){__VA_ARGS__})
#define CALL(scene, name, ...)                                                                     \
	EVENT_CALL(scene, .function = EVENT_FUNCTION_##name, .args = {__VA_ARGS__})

/*
 * Closes the scene and loads it. Asserts that events, records, waits and streams are the same when
 * loaded from packed blocks and in a brief load, and that a load without waits changes nothing
 * else.
 */
struct trace *event_scene_load(struct scene *scene);

/* Returns the cid of the event record that row WAIT waits for, 0 = none. */
uint64_t event_scene_producer(const struct trace *trace, uint32_t wait);

#endif
