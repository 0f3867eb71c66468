/* Errors of a recording (errors.c), and reading of structs that begin with their size
 * (sized.c). */
#ifndef DAGPATCH_PATCH_ERRORS_H
#define DAGPATCH_PATCH_ERRORS_H

#include <stddef.h>
#include <stdint.h>

#include <dagpatch/dagpatch.h>

/* ---- errors.c ---- */

/* Fills the recording's error with the formatted message and, if the thread's last fault has the
 * same code, with the driver's call and result. Counts the failure. Returns CODE. RECORDING may be
 * NULL. */
int recording_fail(struct dagpatch_recording *recording, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* As recording_fail; the message begins with the place: "node 7 (kernel gemm), argument 2, slot 3
 * (kv): ". NODE and BYTE may be DAGPATCH_NONE; BYTE is as public_byte returns it. */
int recording_fail_at(struct dagpatch_recording *recording, int code, uint32_t node, uint32_t byte,
		      const char *format, ...) __attribute__((format(printf, 5, 6)));

/* -EINVAL unless the recording is in STATE. WHAT is the public function, for the message. */
int recording_expect(struct dagpatch_recording *recording, enum dagpatch_state state,
		     const char *what);

/* ---- sized.c ---- */

/* Reads a struct that begins with its size, GIVEN, into RET, which has KNOWN bytes in this
 * library. Fields that GIVEN lacks become 0. -EINVAL: GIVEN is NULL, or its size was not set.
 * -E2BIG: GIVEN is larger, and a byte beyond KNOWN is not 0. */
int sized_read(void *ret, size_t known, const void *given);

/* As sized_read, and fills the recording's error. NAME is the struct's name without "dagpatch_". */
int recording_read(struct dagpatch_recording *recording, void *ret, size_t known, const void *given,
		   const char *name);

#endif
