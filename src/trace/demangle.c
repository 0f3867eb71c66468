/* Demangling of C++ symbols (see demangle.h). */
#include "trace/demangle.h"

#include <stdlib.h>
#include <string.h>

/* Longer symbols are not demangled: the memory that it takes grows with their length. */
#define SYMBOL_BYTES_MOST 16384

/* From the C++ runtime (Itanium C++ ABI, 3.4). The caller frees the result. */
char *__cxa_demangle(const char *symbol, char *buffer, size_t *size, int *status);

uint32_t demangle_intern(struct strtab *strings, const char *symbol, size_t bytes)
{
	char text[SYMBOL_BYTES_MOST + 1];
	char *name = NULL;
	uint32_t string;
	int status = 0;

	if (bytes > 2 && bytes <= SYMBOL_BYTES_MOST && symbol[0] == '_' && symbol[1] == 'Z') {
		memcpy(text, symbol, bytes);
		text[bytes] = '\0';
		name = __cxa_demangle(text, NULL, NULL, &status);
	}
	string = name ? strtab_intern_z(strings, name) : strtab_intern(strings, symbol, bytes);
	free(name);
	return string;
}
