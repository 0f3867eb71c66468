/* The number that libotf2 gives an archive. It is random, and no call sets it; here it is replaced
 * by one that follows from the recording, so that two exports of a recording are equal. */
#ifndef DAGTAP_FORMAT_OTF2_TRACE_ID_H
#define DAGTAP_FORMAT_OTF2_TRACE_ID_H

#include "trace/trace_model.h"

/* Replaces the number in ANCHOR, the anchor file of a complete archive. Returns 0 or a negative
 * errno; -EIO: libotf2 cannot read the file. The file stays as it is if it holds the bytes of the
 * number more than once. */
int otf2_trace_id_replace(const struct trace *trace, const char *anchor);

#endif
