/* Makes records for tools of the rows of a window. Threading: the source's thread alone. */
#ifndef DAGTAP_SDK_DELIVERY_H
#define DAGTAP_SDK_DELIVERY_H

#include "trace/trace_model.h"

/* Puts the records of all calls and activities of WINDOW into the buffers of the contexts that were
 * started when the calls began. Returns 0 or -ENOMEM. */
int delivery_put(const struct trace *window);

#endif
