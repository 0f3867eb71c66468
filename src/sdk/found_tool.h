/* Finds tools by their function rocprofiler_configure.
 *
 * A tool that does not configure itself is looked for at the first recorded call of HIP, among the
 * libraries that ROCP_TOOL_LIBRARIES names, then in the process: before that, the constructors of
 * its library may not have run. Its initialize runs inside of this call, of which the tool gets
 * callbacks and a record. */
#ifndef DAGTAP_SDK_FOUND_TOOL_H
#define DAGTAP_SDK_FOUND_TOOL_H

#include "sdk/abi.h"

/* What the library of CALLER, an address in it, means by CONFIGURE: where the loader has bound its
 * name to the injected library's function, the library's own. */
sdk_configure *found_tool_of(sdk_configure *configure, const void *caller);

#endif
