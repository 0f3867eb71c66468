/* The machine's agents, as the driver lists them (/sys/class/kfd): known before any runtime is
 * loaded. Threading: any thread; they are read once. */
#ifndef DAGTAP_SDK_AGENTS_H
#define DAGTAP_SDK_AGENTS_H

#include "base/inject.h"
#include "sdk/abi.h"
#include "trace/trace_model.h"

/* The interface's id of row AGENT of WINDOW; 0: unknown. */
struct sdk_id agents_id(const struct trace *window, uint32_t agent);

/* The same of an agent that the injected library tells of. */
struct sdk_id agents_id_of(const struct inject_agent *agent);

#endif
