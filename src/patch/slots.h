/* The addresses that are wanted: their arrays (finalize.c) and changes (slots.c). */
#ifndef DAGPATCH_PATCH_SLOTS_H
#define DAGPATCH_PATCH_SLOTS_H

#include <dagpatch/dagpatch.h>

/* Frees what dagpatch_finalize has allocated, except shadows. */
void finalize_release(struct dagpatch_recording *recording);

/* Empties recording.changed. */
void changes_clear(struct dagpatch_recording *recording);

#endif
