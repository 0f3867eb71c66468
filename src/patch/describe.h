/* Texts for messages and dumps (describe.c). The functions write into TEXT and return it, or return
 * a constant. */
#ifndef DAGPATCH_PATCH_DESCRIBE_H
#define DAGPATCH_PATCH_DESCRIBE_H

#include <stdint.h>

#include <dagpatch/dagpatch.h>

enum { KIND_TEXT = 80, BYTE_TEXT = 48, PLACE_TEXT = 256 };

/* "slot 3 (input)" */
const char *slot_text(const struct dagpatch_recording *recording, uint32_t slot, char text[96]);

/* "kernel gemm", "copy". Asks the driver for the kernel's name. */
const char *kind_text(const struct dagpatch_recording *recording, uint32_t node,
		      char text[KIND_TEXT]);

/* "argument 2", "source". BYTE is as public_byte returns it. */
const char *byte_text(const struct dagpatch_recording *recording, uint32_t node, uint32_t byte,
		      char text[BYTE_TEXT]);

/* Everything that is known about a place. NODE may be the number of a node that was not added
 * yet. */
const char *place_text(const struct dagpatch_recording *recording, uint32_t node, uint32_t byte,
		       char text[PLACE_TEXT]);

/* " for slot 3 (kv)": those slots of NODE that are being changed; "" if there are none. */
const char *changed_text(const struct dagpatch_recording *recording, uint32_t node,
			 char text[PLACE_TEXT]);

/* The name that the observer in the trace uses: "set_params", ... */
const char *strategy_text(enum dagpatch_strategy strategy);

#endif
