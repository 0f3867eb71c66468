/* The recordings of this process: each has one spool, and at most one is current. Also keeps
 * which recording each thread has a writer of.
 *
 * A thread is bound to a recording when it takes a writer of it. It is bound to another one the
 * next time that it writes while that one is current; until then it keeps the writer of the old
 * recording, which refuses records. Therefore the memory of an old recording's spool is released
 * only when no thread is bound to it. A struct recording itself is never freed, because a thread
 * may hold a pointer to one that it is about to be bound to.
 *
 * Threading: recording_bind and recording_unbind run in the program's threads, without a lock.
 * One thread at a time, the one that starts the session, calls recording_begin and
 * recording_release_old. */
#ifndef DAGTAP_CAPTURE_PROCESS_RECORDINGS_H
#define DAGTAP_CAPTURE_PROCESS_RECORDINGS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "record/writer.h"

struct recording;
struct spooler;

extern _Atomic(struct recording *)
	recording_current; /* The current recording, or the last one; NULL before the first. */

/* Makes SPOOLER the current recording's; on success the recording owns it. Returns 0 or -ENOMEM. */
int recording_begin(struct spooler *spooler);

/* Returns the current recording's spooler, borrowed; NULL before the first recording. */
struct spooler *recording_spooler(void);

/* Copies the path of the current or last recording's file to RET_PATH, cut off at ROOM bytes with
 * the final NUL. Returns the path's length; 0 before the first recording. RET_PATH is untouched if
 * ROOM is 0. Any thread. */
size_t recording_path(char *ret_path, size_t room);

/* Binds the calling thread to the current recording: returns a writer of it, and the recording
 * to unbind from. The writer is not NULL once there is a recording (spooler_take_writer).
 * Returns NULL before the first. */
struct writer *recording_bind(const struct writer_thread *thread, struct recording **ret_recording);

/* Gives back the writer W that recording_bind returned with RECORDING. */
void recording_unbind(struct recording *recording, struct writer *w);

/* Releases the spoolers of all recordings but the current one to which no thread is bound. The
 * spools must be closed. */
void recording_release_old(void);

/* In a fork child: there is no recording; the parent's files are not touched. */
void recording_forget(void);

#endif
