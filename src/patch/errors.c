/* Errors of a recording, and the check of its state. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "patch/describe.h"
#include "patch/errors.h"
#include "patch/recording.h"

static int fail(struct dagpatch_recording *recording, int code, uint32_t node, uint32_t byte,
		const char *format, va_list arguments)
{
	struct patch_fault fault = patch_fault_take();
	struct dagpatch_error *error;
	char place[PLACE_TEXT];
	int length = 0;

	if (!recording)
		return code;
	error = &recording->error;
	*error = (struct dagpatch_error){.code = code, .node = node, .byte = byte};
	if (node != DAGPATCH_NONE)
		length = snprintf(error->message, sizeof(error->message),
				  "%s: ", place_text(recording, node, byte, place));
	if ((size_t)length < sizeof(error->message))
		length += vsnprintf(error->message + length,
				    sizeof(error->message) - (size_t)length, format, arguments);
	if (fault.call && fault.code_errno == code && length >= 0 &&
	    (size_t)length < sizeof(error->message)) {
		error->driver_code = fault.code;
		snprintf(error->message + length, sizeof(error->message) - (size_t)length,
			 ": %s: %s (%d)", fault.call, fault.text, fault.code);
	}
	recording->stats.failures++;
	return code;
}

int recording_fail(struct dagpatch_recording *recording, int code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fail(recording, code, DAGPATCH_NONE, DAGPATCH_NONE, format, arguments);
	va_end(arguments);
	return code;
}

int recording_fail_at(struct dagpatch_recording *recording, int code, uint32_t node, uint32_t byte,
		      const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fail(recording, code, node, byte, format, arguments);
	va_end(arguments);
	return code;
}

int recording_expect(struct dagpatch_recording *recording, enum dagpatch_state state,
		     const char *what)
{
	static const char *const names[] = {"being recorded", "finalized", "lost"};

	if (!recording)
		return -EINVAL;
	if (recording->state == state)
		return 0;
	return recording_fail(recording, -EINVAL, "%s: the recording is %s, it must be %s", what,
			      names[recording->state], names[state]);
}

const struct dagpatch_error *dagpatch_recording_error(const struct dagpatch_recording *recording)
{
	static const struct dagpatch_error none = {-EINVAL, 0, DAGPATCH_NONE, DAGPATCH_NONE,
						   "there is no recording"};

	return recording ? &recording->error : &none;
}
