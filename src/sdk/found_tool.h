/* Finds tools by their function rocprofiler_configure. Any thread; takes the loader's lock. */
#ifndef DAGTAP_SDK_FOUND_TOOL_H
#define DAGTAP_SDK_FOUND_TOOL_H

#include <stdbool.h>

#include "sdk/abi.h"

/* What the library of CALLER, an address in it, means by CONFIGURE: where the loader has bound its
 * name to the injected library's function, the library's own. */
sdk_configure *found_tool_of(sdk_configure *configure, const void *caller);

/* Whether a tool waits to be found. Loads nothing. */
bool found_tool_is_there(void);

/* The tool that waits to be found: of the first library with such a function among those that
 * ROCP_TOOL_LIBRARIES names, which are loaded, else in the process. NULL: there is none. */
sdk_configure *found_tool(void);

#endif
