/* Programs whose every moment is known, as the spools that a recording of them would be: HIP's records,
 * or CUPTI's. Times are ns from BASE_NS on, which is when the program's first call begins. */
#ifndef DAGTAP_TESTS_SCHEDULE_H
#define DAGTAP_TESTS_SCHEDULE_H

#include "analyze/idle.h"
#include "analyze/path_report.h"
#include "scene.h"

#define BASE_NS 100000

/* HIP's handles. Stream 0 is the legacy default stream. */
enum { NULL_STREAM, STREAM_1 = 0xa1, STREAM_2, STREAM_3 };
enum { EVENT_1 = 0xe1, EVENT_2, EVENT_3 };

struct schedule {
	struct scene scene;
	bool is_cuda;
	uint32_t kernels; /* that have names */
	uint64_t copies;
	uint64_t launch; /* correlation id of the graph launch that was begun last */
	uint32_t launched;
	bool is_in_order; /* packets have the barrier bit: the hardware queue runs them in a row */
	uint64_t scope;	  /* id of the one that calls are made under, 0 = none */
};

/* A stretch of time. */
struct span {
	int64_t begin, end;
};

void schedule_init(struct schedule *schedule, bool is_cuda);

/* Before BASE_NS: a stream made with these flags, 1 = non-blocking. */
void schedule_stream(struct schedule *schedule, uint64_t stream, uint32_t flags);

/* A kernel: the call, the moment at which it hands over (HIP alone knows), the time on the GPU. */
void schedule_kernel(struct schedule *schedule, uint64_t stream, const char *name, struct span call,
		     int64_t submit, struct span run);

/* By hipExtLaunchKernel, with events for where it begins and where it ends. */
void schedule_ext_kernel(struct schedule *schedule, uint64_t stream, const char *name,
			 struct span call, int64_t submit, struct span run);

/* To the host, by hipMemcpy if it is BLOCKING. From it otherwise. */
void schedule_copy(struct schedule *schedule, uint64_t stream, bool blocking, struct span call,
		   int64_t submit, struct span run);

void schedule_record(struct schedule *schedule, uint64_t event, uint64_t stream, struct span call);
void schedule_wait(struct schedule *schedule, uint64_t stream, uint64_t event, struct span call);
void schedule_event_sync(struct schedule *schedule, uint64_t event, struct span call);
void schedule_stream_sync(struct schedule *schedule, uint64_t stream, struct span call);
void schedule_device_sync(struct schedule *schedule, struct span call);

/* HIP: graph 7, exec 31, of kernels NAMES with edges from FROM to TO; ends with NULL. "!2" is a
 * node that records EVENT_2, "?2" one that waits for it. */
void schedule_graph(struct schedule *schedule, const char *const *names, const uint32_t (*edges)[2],
		    uint32_t edge_count);
void schedule_launch(struct schedule *schedule, uint64_t stream, uint32_t activities,
		     struct span call);
void schedule_node(struct schedule *schedule, const char *name, int64_t submit, struct span run);

/* A scope on the calling thread; calls are under the one that schedule->scope says. */
void schedule_scope(struct schedule *schedule, uint64_t id, const char *text, struct span span);

/* What was found, loaded from the spool. */
struct found {
	struct trace *trace;
	struct dependencies deps;
	struct path_windows windows;
	struct path path;
	struct path_report report;
	struct idle idle;
};

/* Of the first window; the schedule ends. */
void schedule_find(struct schedule *schedule, const struct path_query *query,
		   struct found *ret_found);
void found_release(struct found *found);

/* All, from BASE_NS to END. */
void schedule_find_until(struct schedule *schedule, int64_t end, struct found *ret_found);

/* The row; asserts that there is one of that name. */
uint32_t found_activity(const struct found *found, const char *name);

/* What a step is to be; NAME of the work, or of what is begun after a gap, or of a call. */
struct expected_step {
	enum path_kind kind;
	int64_t begin, end;
	const char *name;
};

void expect_steps(const struct found *found, const struct expected_step *steps, uint32_t count);

/* Asserts that a stream was busy and idle for so long and nothing else in the window. */
void expect_stream(const struct found *found, uint64_t stream, int64_t busy,
		   const int64_t causes[IDLE_CAUSE_COUNT]);

#endif
