/* The recording that the calling process is in, if any.
 *
 * `dagtap record` starts the recording at the first use of a GPU; a program can start it earlier,
 * stop it, for instance before it leaves through _exit, and put a line of its own into it. It can also
 * record only what is of interest: each start after a stop begins a recording of its own, which a
 * .dagtap file holds beside the others as if it were another process of the same number.
 *
 * Threading: any thread, any time, but not from a signal handler.
 * Cost: one load when nothing records; otherwise as said below.
 * Errors: none; without a recording the calls do nothing. If the recording fails inside (the disk is
 * full, memory is short) it ends by itself, the program goes on, and the file says so.
 * After fork the child has no part in its parent's recording: it starts one of its own. */
#ifndef DAGTAP_SESSION_H
#define DAGTAP_SESSION_H

#ifdef __cplusplus
extern "C" {
#endif

/* Starts the recording now, without waiting for the first use of a GPU, or a new one after
 * dagtap_session_stop. Returns 1 when the process records, also if it did already; 0 without `dagtap
 * record`, once the process is ending, and when it could not be started: then a later call may try
 * again. Takes some ms: a file is made and mapped, threads start. Calls of the GPU's runtime that other
 * threads make meanwhile wait for it.
 *
 * A new recording knows the queues, kernels and graphs that there are, also those made since the last
 * one was stopped. Calls and kernels that are under way when it starts are not part of it. */
int dagtap_session_start(void);

/* 1 while this process records, 0 before its first use of a GPU, after dagtap_session_stop, and without
 * `dagtap record`. Two loads. */
int dagtap_session_is_recording(void);

/* Ends the recording: waits for GPU work in flight (about two seconds at most; what is unfinished then
 * is recorded without times), writes the final counts and closes the file, which is complete when the
 * call returns. Later calls go through unrecorded, until dagtap_session_start. Calls of other threads
 * that are under way are counted and not recorded. If another thread is already stopping the recording,
 * this waits for it, ten seconds at most. Not needed before exit() or a return from main. */
void dagtap_session_stop(void);

/* Puts a line of text into the recording, where `dagtap check` and `dagtap info` show it. TEXT is
 * UTF-8 and NUL-terminated, copied before the call returns, cut after 8192 bytes; NULL does
 * nothing. Some tens of ns and one record. */
void dagtap_session_note(const char *text);

#ifdef __cplusplus
}
#endif

#endif
