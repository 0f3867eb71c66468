/* Control of the recording of the calling process.
 *
 * `dagtap record` starts the recording at the first use of a GPU. With these functions a program
 * starts it earlier, stops it (for instance before a call of _exit), and adds lines of text to it.
 * A program can also record selected phases only: each start after a stop begins a separate
 * recording. A .dagtap file holds such recordings side by side, like several processes with the
 * same process id.
 *
 * Threading: any thread may call any function at any time, but not from a signal handler.
 * Cost: one load when nothing is recorded; otherwise see each function.
 * Errors: none are reported. Without a recording the calls do nothing. If the recording fails (the
 * disk is full, or memory is short), it ends, the program continues, and the file tells the cause.
 * Fork: a child is not part of its parent's recording; it starts its own. */
#ifndef DAGTAP_SESSION_H
#define DAGTAP_SESSION_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Under `dagtap record --wait`, --capture-range, --delay or --duration these calls begin and end
 * capture ranges beside the other events that do: start returns 0 before the delay has passed (the
 * recording then begins with its end) and after the duration.
 *
 * Starts the recording now instead of at the first use of a GPU, or starts a new recording after
 * dagtap_session_stop. Returns 1 when the process records, also when it recorded before the call.
 * Returns 0 without `dagtap record`, when the process is ending, and when the recording could not
 * be started; in the last case a later call may try again. Takes some ms, because it creates and
 * maps a file and starts threads. Calls of the GPU's runtime by other threads wait meanwhile.
 *
 * A new recording knows all queues, kernels and graphs that exist, also those that were created
 * since the last recording was stopped. Calls and kernels that are in progress when it starts are
 * not part of it. */
int dagtap_session_start(void);

/* Returns 1 while this process records. Returns 0 before its first use of a GPU, after
 * dagtap_session_stop, and without `dagtap record`. Cost: two loads. */
int dagtap_session_is_recording(void);

/* Stops the recording: waits for unfinished GPU work (at most about two seconds; work that is still
 * unfinished then is recorded without times), writes the final counts and closes the file, which is
 * complete when the call returns. Later calls of the GPU's runtime are not recorded until
 * dagtap_session_start. Calls that other threads are inside of at that moment are counted but not
 * recorded. If another thread is stopping the recording, this call waits for that thread, at most
 * ten seconds. Not needed before exit() or a return from main. */
void dagtap_session_stop(void);

/* Copies the path of the file that holds the recording of this process, the present one or the last
 * one, to RET_PATH: at most ROOM bytes with the final NUL. Returns the length of the path, which is
 * ROOM or more if the path did not fit; 0 before the first recording and without `dagtap record`.
 * The file is complete when dagtap_session_stop has returned, and dagtap_trace_open
 * (dagtap/trace.h) reads it. It exists until the process has ended: `dagtap record` then packs it
 * into the .dagtap file. With --ring it holds the newest records only. Cost: some loads and the
 * copy. */
size_t dagtap_session_path(char *ret_path, size_t room);

/* Adds a line of text to the recording; `dagtap check` and `dagtap info` show it. TEXT is UTF-8 and
 * NUL-terminated; it is copied before the call returns and cut after 8192 bytes. NULL does nothing.
 * Cost: some tens of ns and one record. */
void dagtap_session_note(const char *text);

#ifdef __cplusplus
}
#endif

#endif
