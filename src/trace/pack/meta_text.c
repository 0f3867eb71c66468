/* Escaping and its reverse (meta_text.h). */
#include "trace/pack/meta_text.h"

#include <stdlib.h>

void meta_text_put(FILE *out, const char *key, const char *value)
{
	fprintf(out, "%s ", key);
	for (; *value; value++) {
		if (*value == '\n')
			fputs("\\n", out);
		else if (*value == '\\')
			fputs("\\\\", out);
		else
			fputc(*value, out);
	}
	fputc('\n', out);
}

char *meta_text_read(const char *text, size_t bytes)
{
	char *value = malloc(bytes + 1);
	size_t used = 0;

	if (!value)
		return NULL;
	for (size_t i = 0; i < bytes; i++) {
		if (text[i] == '\\' && i + 1 < bytes) {
			i++;
			value[used] = text[i];
			if (text[i] == 'n')
				value[used] = '\n';
			used++;
		} else {
			value[used++] = text[i];
		}
	}
	value[used] = '\0';
	return value;
}
