/* The spools of this process, one at a time in use, and who has a writer of which.
 *
 * A thread is bound to a recording when it takes a writer there, and bound anew when it comes to write
 * and another recording is current. Until then it keeps the writer of the old one, which refuses. So the
 * memory of an old recording can go only when no thread is bound to it any more; what a thread is bound
 * to, or may be about to be, is a struct recording, and those are never freed.
 *
 * No locks: binding happens in the program's threads. Making a recording current, and giving back what
 * old ones hold, is for one thread at a time. */
#ifndef DAGTAP_CAPTURE_RECORDING_H
#define DAGTAP_CAPTURE_RECORDING_H

#include <stdatomic.h>
#include <stdint.h>

#include "record/writer.h"

struct recording;
struct spooler;

extern _Atomic(struct recording *) recording_current; /* NULL before the first */

/* Makes SPOOLER the current recording's; it goes with it. 0 or -ENOMEM. */
int recording_begin(struct spooler *spooler);

/* NULL before the first. */
struct spooler *recording_spooler(void);

/* A writer of the current recording, and which that is; NULL before the first. */
struct writer *recording_bind(const struct writer_thread *thread, struct recording **ret_recording);

/* Gives back what recording_bind gave. */
void recording_unbind(struct recording *recording, struct writer *w);

/* Frees what nobody is bound to but the current one. Their spools must be closed. */
void recording_release_old(void);

/* In a fork child: there is none, and the parent's are not touched. */
void recording_forget(void);

#endif
