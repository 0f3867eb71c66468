/* What every function that adds a node uses (node_append.c). */
#ifndef DAGPATCH_PATCH_NODE_APPEND_H
#define DAGPATCH_PATCH_NODE_APPEND_H

#include "patch/driver.h"

/* Appends a node at the top, without dependencies, with an image of SIZE zero bytes (0: no
 * image). */
int node_append(struct dagpatch_recording *recording, enum patch_kind kind, uint32_t size,
		uint32_t *ret_node);

/* Adds a relocation: the image of NODE holds the address of SLOT plus OFFSET at BYTE. */
int relocation_append(struct dagpatch_recording *recording, uint32_t node, uint32_t byte,
		      uint32_t slot, uint64_t offset);

/* The sizes of a recording's arrays, to return to when adding fails. */
struct mark {
	uint32_t nodes, image_words, after, accesses, works, recaptures, conditionals, attributes,
		loose;
};

/* Returns the sizes now. */
struct mark recording_mark(const struct dagpatch_recording *recording);

/* Removes everything that was added since MARK. */
void recording_rewind(struct dagpatch_recording *recording, const struct mark *mark);

/* Every function that adds a node at the top begins with add_begin (or add_check) and ends with
 * add_end. add_begin checks the recording's state and fills *RET_MARK. add_end gets ERR, the result
 * so far: if that is 0, it records the dependencies of the node and returns its number; otherwise
 * it removes everything added since MARK. */
int add_begin(struct dagpatch_recording *recording, const char *what, struct mark *ret_mark);

/* add_begin for calls that have begun with recording_enter. */
int add_check(struct dagpatch_recording *recording, const char *what, struct mark *ret_mark);
int add_end(struct dagpatch_recording *recording, int err, const struct mark *mark,
	    const struct dagpatch_after *after, uint32_t *ret_node);

#endif
