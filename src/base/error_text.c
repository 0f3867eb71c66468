/* Formatting of error messages. The names are in parentheses because the header may define
 * macros. */
#include "base/error_text.h"

#include <stdarg.h>
#include <stdio.h>

int(dagtap_error_set)(struct dagtap_error *error, int code, const char *format, ...)
{
	va_list args;

	if (!error)
		return code;
	error->code = code;
	error->offset = DAGTAP_ERROR_NO_OFFSET;
	va_start(args, format);
	vsnprintf(error->message, sizeof(error->message), format, args);
	va_end(args);
	return code;
}

int(dagtap_error_at)(struct dagtap_error *error, int code, const char *file, uint64_t offset,
		     const char *format, ...)
{
	va_list args;
	int length;

	if (!error)
		return code;
	error->code = code;
	error->offset = offset;
	length = snprintf(error->message, sizeof(error->message), "%s: offset %llu: ", file,
			  (unsigned long long)offset);
	if (length < 0 || (size_t)length >= sizeof(error->message))
		return code;
	va_start(args, format);
	vsnprintf(error->message + length, sizeof(error->message) - (size_t)length, format, args);
	va_end(args);
	return code;
}
