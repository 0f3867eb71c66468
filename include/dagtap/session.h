/* The recording that the calling process is in, if any.
 *
 * `dagtap record` starts the recording at the first use of a GPU; a program can end it early, for
 * instance before it leaves through _exit, and put a line of its own into it.
 *
 * Threading: any thread, any time. Cost: one load when nothing records.
 * Errors: none; without a recording the calls do nothing. */
#ifndef DAGTAP_SESSION_H
#define DAGTAP_SESSION_H

#ifdef __cplusplus
extern "C" {
#endif

/* Starts the recording now, without waiting for the first use of a GPU. Returns 1 when the process
 * records, also if it did already; 0 without `dagtap record` and after the end. Costs some ms. */
int dagtap_session_start(void);

/* 1 while this process records, 0 before its first use of a GPU, after the end, and without
 * `dagtap record`. */
int dagtap_session_is_recording(void);

/* Ends the recording of this process for good: waits for GPU work in flight (about two seconds at most),
 * writes the final counts and closes the file. Later calls go through unrecorded. */
void dagtap_session_stop(void);

/* Puts a line of text into the recording, cut after 8192 bytes. */
void dagtap_session_note(const char *text);

#ifdef __cplusplus
}
#endif

#endif
