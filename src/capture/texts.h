/* Texts, each kept once: the same text is the same row for as long as the process lives.
 *
 * Cost: a hash of the text, whatever is kept already (programs register thousands, some of them again before
 * each launch); memory doubles as it fills. Threading: one thread at a time, the owner's to see to. */
#ifndef DAGTAP_CAPTURE_TEXTS_H
#define DAGTAP_CAPTURE_TEXTS_H

#include <stddef.h>
#include <stdint.h>

struct text {
	uint32_t number; /* from 1, as they came */
	uint32_t hash;
	size_t bytes;	  /* without the 0 at its end */
	uint32_t session; /* the owner's: in whose spool it is; 0 at first */
	char text[];
};

struct texts {
	struct text **slots; /* open addressing; NULL = free */
	uint32_t slot_count, count;
};

/* The row of TEXT. NULL: out of memory. */
struct text *texts_keep(struct texts *texts, const char *text);

#endif
