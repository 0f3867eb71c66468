/* Every period and every limit of a wait, in one table. dagtap never waits without a limit for
 * another thread, the device or a lock: the holder may be stopped, or may be the thread that a
 * signal handler interrupted.
 *
 * Whether a limit runs out depends on the machine's speed. So tests set the limits: "never", or
 * 0, which checks the condition once and does not wait. The times are those of base/clock.h,
 * whose clock a test may hold.
 *
 * Threading: timer_configure must run before other threads use timers; any thread may call the
 * other functions. Cost: one read of the clock in timer_start and in timer_is_over. */
#ifndef DAGTAP_BASE_TIMER_H
#define DAGTAP_BASE_TIMER_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

#define TIMER_NEVER UINT64_MAX

/* X(id, name, default in ns, 1 for the limit of a wait or 0 for a period, its purpose) */
#define TIMERS(X)                                                                                  \
	X(HOUSE_TICK, "house_tick", 250000000, 0, "clocks and counters are sampled")               \
	X(HOUSE_TICK_FIRST, "house_tick_first", 10000000, 0,                                       \
	  "the same after a start; doubles up to house_tick")                                      \
	X(SESSION_CHANGE, "session_change", 10000000000, 1,                                        \
	  "for another thread that starts or stops the recording")                                 \
	X(PART_HOOK, "part_hook", 3000000000, 1,                                                   \
	  "for the tick or start of a capture source, when the recording stops")                   \
	X(THREAD_END, "thread_end", 3000000000, 1, "for the end of one of the tool's own threads") \
	X(THREAD_LEAVE, "thread_leave", 1000000000, 1,                                             \
	  "until the last such thread is gone from the kernel, before the next one is made")       \
	X(SPOOL_QUIESCE, "spool_quiesce", 3000000000, 1, "for a record that is being written")     \
	X(SPOOL_SERVICE, "spool_service", 3000000000, 1,                                           \
	  "for the housekeeper's work on the spool")                                               \
	X(CUDA_BUFFERS, "cuda_buffers", 3000000000, 1,                                             \
	  "for a thread that brings a buffer of CUPTI's")                                          \
	X(HSA_LOCK, "hsa_lock", 1000000000, 1,                                                     \
	  "for a lock, or a completion that a thread is changing, when tracing or the process "    \
	  "ends")                                                                                  \
	X(LATE_QUEUES, "late_queues", 100000000, 1,                                                \
	  "for the lock of the queues that were made when tracing had ended")                      \
	X(GATE_HOLD, "gate_hold", 5000000000, 1, "for the thread that is at work in a gate")       \
	X(GATE_ANSWER, "gate_answer", 500000000, 1,                                                \
	  "for the same, by a thread that has just rung the doorbell")                             \
	X(GATE_STUCK, "gate_stuck", 2000000000, 1,                                                 \
	  "for a gate that gets no further, before packets pass it unrecorded")                    \
	X(GATE_WRITTEN, "gate_written", 20000000, 1,                                               \
	  "for packets that are reserved and not written, when tracing ends")                      \
	X(GATE_TAKEN, "gate_taken", 1000000, 1,                                                    \
	  "for the same, to know what the device had taken when a recording began")                \
	X(SLOT_ROOM, "slot_room", 100000, 1,                                                       \
	  "for the monitor to collect completions, by a thread that finds few slots free")         \
	X(PACE, "pace", 100000000, 1, "for room in the spool, while a large graph is written")     \
	X(PROXY_HOLD, "proxy_hold", 500000000, 1, "for the threads at a proxy's gate")             \
	X(QUEUE_DRAIN, "queue_drain", 2000000000, 1, "for the work of a queue that is destroyed")  \
	X(DEVICE_DRAIN, "device_drain", 1000000000, 1, "for the device's work, when tracing ends") \
	X(DEVICE_DRAIN_MOST, "device_drain_most", 2000000000, 1,                                   \
	  "the same, while work is finished")                                                      \
	X(DEVICE_STANDS, "device_stands", 100000000, 1,                                            \
	  "the same: no work was finished for so long")                                            \
	X(FAULT_LOOK, "fault_look", 100000000, 1,                                                  \
	  "for the monitor to collect what has ended, when the runtime tells of a fault")          \
	X(TICKS_LATE, "ticks_late", 100000000, 1,                                                  \
	  "for the ticks of a signal that has been decremented without them")                      \
	X(SERIAL_TURN, "serial_turn", 3000000000, 1,                                               \
	  "for the one kernel that a GPU runs at a time")                                          \
	X(CONTROL_ANSWER, "control_answer", 30000000000, 1,                                        \
	  "for the answer of a process to dagtap control")                                         \
	X(CONTROL_REOPEN, "control_reopen", 1000000000, 1,                                         \
	  "for a process to open its door again that the program has closed")                      \
	X(DYNOLOG_POLL, "dynolog_poll", 1000000000, 0, "dynolog's daemon is asked for a request")  \
	X(LOSS_WORD, "loss_word", 500000000, 1,                                                    \
	  "for the recorder to read why other processes are not recorded")                         \
	X(SURVIVORS, "survivors", 3000000000, 1,                                                   \
	  "for processes that a recorded program left running")                                    \
	X(STATS_POLL, "stats_poll", 200000000, 0,                                                  \
	  "the recordings of dagtap record --stats are read")                                      \
	X(STATS_SNAPSHOT, "stats_snapshot", 60000000000, 0,                                        \
	  "the rows around an outlier are written at most so often")                               \
	X(METRICS_CLIENT, "metrics_client", 2000000000, 1,                                         \
	  "for a client of --metrics to send its request, and to take the answer")                 \
	X(METRICS_LOCK, "metrics_lock", 2000000000, 1,                                             \
	  "for another dagtap that opens its --metrics socket in the same folder")                 \
	X(METRICS_PAUSE, "metrics_pause", 100000000, 0,                                            \
	  "--metrics tries again to accept a client, after it could not")                          \
	X(SDK_FLUSH, "sdk_flush", 30000000000, 1,                                                  \
	  "for the end of the work whose records a profiler flushes")                              \
	X(SDK_EXIT, "sdk_exit", 2000000000, 1, "the same, when the process ends")                  \
	X(SDK_DELIVERY, "sdk_delivery", 1000000000, 1,                                             \
	  "for a profiler's callbacks, after such a wait")                                         \
	X(SOFTGPU_SETTLE, "softgpu_settle", 1000000000, 1,                                         \
	  "for the software GPU's callbacks that are due when the process ends")

enum timer {
#define X(id, name, ns, is_limit, help) TIMER_##id,
	TIMERS(X)
#undef X
		TIMER_COUNT
};

/* Sets times from TEXT: "name=ns" or "name=never", separated by commas. The name "limits" stands
 * for every limit. Entries that cannot be parsed are skipped. */
void timer_configure(const char *text);

/* The configured time in ns; TIMER_NEVER: no limit. */
uint64_t timer_ns(enum timer timer);

/* The end of a wait. */
struct timer_limit {
	uint64_t end_ns; /* of clock_now_ns; TIMER_NEVER: no end */
};

/* The limit of a wait that begins now. */
struct timer_limit timer_start(enum timer timer);

/* The same for a time that is not in the table. NS may be TIMER_NEVER. */
struct timer_limit timer_start_ns(uint64_t ns);

/* Whether the limit has passed. Always false for TIMER_NEVER. */
bool timer_is_over(struct timer_limit limit);

/* Takes the semaphore or the lock, and waits for it until the limit. Returns whether it was
 * taken. A signal handler does not end the wait. */
bool timer_wait(sem_t *semaphore, struct timer_limit limit);
bool timer_lock(pthread_mutex_t *lock, struct timer_limit limit);

/* Waits once for the condition variable FACT, with LOCK held. May wake up without a cause, as
 * pthread_cond_wait may: the caller checks its condition in a loop. Returns false at the limit. */
bool timer_wait_for(pthread_cond_t *fact, pthread_mutex_t *lock, struct timer_limit limit);

#endif
