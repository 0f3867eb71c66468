#include "trace/demangle.h"

#include <stdlib.h>
#include <string.h>

/* Longer ones are left alone: reading one takes memory by its length. */
#define SYMBOL_BYTES_MOST 16384

/* Of the C++ runtime (Itanium C++ ABI, 3.4): what it gives is the caller's to free. */
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
