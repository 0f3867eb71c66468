/* The recording that the calling process is in, if any.
 *
 * `dagtap record` starts the recording at the first use of a GPU; a program can start it earlier,
 * end it early, for instance before it leaves through _exit, and put a line of its own into it.
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

/* Starts the recording now, without waiting for the first use of a GPU. Returns 1 when the process
 * records, also if it did already; 0 without `dagtap record`, after the end, and when it could not
 * be started. Takes some ms the first time: a file is made and mapped, threads start. */
int dagtap_session_start(void);

/* 1 while this process records, 0 before its first use of a GPU, after the end, and without
 * `dagtap record`. Two loads. */
int dagtap_session_is_recording(void);

/* Ends the recording of this process for good: waits for GPU work in flight (about two seconds at
 * most; what is unfinished then is recorded without times), writes the final counts and closes the
 * file. Later calls go through unrecorded. Not needed before exit() or a return from main. */
void dagtap_session_stop(void);

/* Puts a line of text into the recording, where `dagtap check` and `dagtap info` show it. TEXT is
 * UTF-8 and NUL-terminated, copied before the call returns, cut after 8192 bytes; NULL does
 * nothing. Some tens of ns and one record. */
void dagtap_session_note(const char *text);

#ifdef __cplusplus
}
#endif

#endif
