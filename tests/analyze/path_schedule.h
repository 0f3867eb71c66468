/*
 * Builds spools of small programs in which the test sets the begin and end of every call and
 * activity, as HIP's records or as CUPTI's, and asks the path analysis about them. All times are ns
 * after BASE_NS, where the program's first call begins.
 */
#ifndef DAGTAP_TESTS_SCHEDULE_H
#define DAGTAP_TESTS_SCHEDULE_H

#include "analyze/idle.h"
#include "analyze/path_report.h"
#include "scene.h"

#define BASE_NS 100000

/* Stream handles. 0 is HIP's legacy default stream. */
enum { NULL_STREAM, STREAM_1 = 0xa1, STREAM_2, STREAM_3 };
enum { EVENT_1 = 0xe1, EVENT_2, EVENT_3 };

/* The result of the analysis, and the trace that was loaded from the spool. */
struct found {
	struct trace *trace;
	struct dependencies deps;
	struct path_windows windows;
	struct path path;
	struct path_report report;
	struct idle idle;
};

struct schedule {
	struct scene scene;
	bool is_cuda;
	uint32_t kernels; /* id of the next kernel */
	uint64_t copies;
	uint64_t launch; /* correlation id of the latest graph launch */
	uint32_t launched;
	/* all packets have the barrier bit: the hardware queue runs them one after the other */
	bool is_in_order;
	struct found found;
	uint64_t scope; /* id of the scope that encloses the calls made from now on; 0 = none */
};

/* An interval in ns after BASE_NS. */
struct span {
	int64_t begin, end;
};

/* Begins the spool of a CUDA or a HIP program; schedule_find closes and loads it. */
void schedule_init(struct schedule *schedule, bool is_cuda);

/* Cases whose state is a schedule of a HIP or a CUDA program. schedule_again begins it anew. */
#define HIP_SCHEDULE(name)                                                                         \
	cmocka_unit_test_setup_teardown(name, schedule_setup_hip, schedule_teardown)
#define CUDA_SCHEDULE(name)                                                                        \
	cmocka_unit_test_setup_teardown(name, schedule_setup_cuda, schedule_teardown)
int schedule_setup_hip(void **state);
int schedule_setup_cuda(void **state);
int schedule_teardown(void **state);
void schedule_again(struct schedule *schedule);

/* Creates a stream before BASE_NS, with hipStreamCreateWithFlags' FLAGS (1 = non-blocking). */
void schedule_stream(struct schedule *schedule, uint64_t stream, uint32_t flags);
void schedule_streams(struct schedule *schedule, uint32_t count, uint32_t flags); /* from 1 on */

/*
 * Launches a kernel: CALL is the host call, the next time is when the packet is submitted (only HIP
 * records it), the last span is the execution on the GPU.
 */
void schedule_kernel(struct schedule *schedule, uint64_t stream, const char *name, struct span call,
		     int64_t submit, struct span run);

/* Launches a kernel with hipExtLaunchKernel, with a start event and a stop event. */
void schedule_ext_kernel(struct schedule *schedule, uint64_t stream, const char *name,
			 struct span call, int64_t submit, struct span run);

/* Copies device to host with hipMemcpy if BLOCKING; otherwise copies host to device. */
void schedule_copy(struct schedule *schedule, uint64_t stream, bool blocking, struct span call,
		   int64_t submit, struct span run);

/* Record calls that record an event, wait for it, or wait for a stream. */
void schedule_record(struct schedule *schedule, uint64_t event, uint64_t stream, struct span call);
void schedule_wait(struct schedule *schedule, uint64_t stream, uint64_t event, struct span call);
void schedule_event_sync(struct schedule *schedule, uint64_t event, struct span call);
void schedule_stream_sync(struct schedule *schedule, uint64_t stream, struct span call);
void schedule_device_sync(struct schedule *schedule, struct span call);

/*
 * HIP: creates graph 7 and its executable graph 31. NAMES holds a kernel for each node and ends
 * with NULL; EDGES holds pairs (from, to). "!2" is a node that records EVENT_2, "?2" a node that
 * waits for it.
 */
void schedule_graph(struct schedule *schedule, const char *const *names, const uint32_t (*edges)[2],
		    uint32_t edge_count);
void schedule_launch(struct schedule *schedule, uint64_t stream, uint32_t activities,
		     struct span call);
void schedule_node(struct schedule *schedule, const char *name, int64_t submit, struct span run);

/* Records a scope of the calling thread, inside the scope schedule->scope. Set schedule->scope to
 * place calls in a scope. */
void schedule_scope(struct schedule *schedule, uint64_t id, const char *text, struct span span);

/* Closes the schedule and loads its spool. The caller closes the trace. */
struct trace *schedule_load(struct schedule *schedule);

/*
 * Closes the schedule, loads its spool and analyzes the first window of QUERY, or the whole time
 * from BASE_NS to END. The case's end releases the result.
 */
const struct found *schedule_find(struct schedule *schedule, const struct path_query *query);
const struct found *schedule_find_until(struct schedule *schedule, int64_t end);

/* Returns the row of the activity called NAME; asserts that it exists. */
uint32_t found_activity(const struct found *found, const char *name);

/*
 * An expected step of the path. NAME is the activity's, that of the activity after a gap, or the
 * call's.
 */
struct expected_step {
	enum path_kind kind;
	int64_t begin, end;
	const char *name;
};

#define STEPS(...)                                                                                 \
	(const struct expected_step[]){__VA_ARGS__},                                               \
		sizeof((const struct expected_step[]){__VA_ARGS__}) / sizeof(struct expected_step)
#define SPAN(begin, end) ((struct span){begin, end})
#define CAUSES(...)	 ((const int64_t[IDLE_CAUSE_COUNT]){__VA_ARGS__})

/* Asserts that the path consists of exactly these steps; their times are ns after BASE_NS. */
void expect_steps(const struct found *found, const struct expected_step *steps, uint32_t count);

/*
 * Asserts that STREAM was busy for BUSY ns and idle for the given ns of each cause, and that this
 * accounts for the whole window.
 */
void expect_stream(const struct found *found, uint64_t stream, int64_t busy,
		   const int64_t causes[IDLE_CAUSE_COUNT]);

#endif
