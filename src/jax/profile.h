/* One profile: a recording of this process from start to stop, given out as the bytes of an XSpace.
 *
 * The recording is one of `dagtap record`, which must have started the process; the profile is a
 * capture range of its own (dagtap/session.h). If the process was being recorded before, that
 * recording ends with the profile's start, and another one begins with its stop, so that the
 * profile's recording holds the profile alone and is complete when it is read.
 *
 * A profile never fails: what went wrong is a message in its XSpace (message.h).
 *
 * Threading: a profile is used by one thread at a time. Of the profiles of a process only one
 * records at a time; a second one that is started says so. */
#ifndef DAGTAP_JAX_PROFILE_H
#define DAGTAP_JAX_PROFILE_H

#include <stddef.h>
#include <stdint.h>

struct profile;

/* Creates a profile. Returns NULL without memory. The caller frees it with profile_destroy. */
struct profile *profile_create(void);

/* Stops PROFILE if it records, and frees it and its bytes. PROFILE may be NULL. */
void profile_destroy(struct profile *profile);

/* Starts the recording. Does nothing if PROFILE was started before. Takes some ms. */
void profile_start(struct profile *profile);

/* Stops it. Does nothing if PROFILE does not record. Waits for unfinished GPU work, two seconds at
 * most. */
void profile_stop(struct profile *profile);

/* Returns the XSpace, stopping PROFILE first if it records. The first call reads the recording and
 * makes the bytes, which belong to PROFILE. Its memory: about 100 bytes for each activity while it
 * is read, and then the XSpace. */
const uint8_t *profile_bytes(struct profile *profile, size_t *ret_bytes);

/* Returns whether profile_bytes was called. */
int profile_is_made(const struct profile *profile);

#endif
