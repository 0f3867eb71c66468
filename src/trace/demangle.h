/* Inside trace/: demangles names of kernels. */
#ifndef DAGTAP_TRACE_DEMANGLE_H
#define DAGTAP_TRACE_DEMANGLE_H

#include "base/strtab.h"

/* Interns the demangled name of a C++ SYMBOL. Any other text, and a symbol that cannot be
 * demangled, is interned unchanged. */
uint32_t demangle_intern(struct strtab *strings, const char *symbol, size_t bytes);

#endif
