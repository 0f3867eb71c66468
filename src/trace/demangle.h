/* Inside trace/: names of kernels as people write them. */
#ifndef DAGTAP_TRACE_DEMANGLE_H
#define DAGTAP_TRACE_DEMANGLE_H

#include "trace/strtab.h"

/* A C++ symbol's name; any other text, and what cannot be read, as it is. */
uint32_t demangle_intern(struct strtab *strings, const char *symbol, size_t bytes);

#endif
