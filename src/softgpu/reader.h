/* Code object readers: where the bytes of a code object come from. */
#ifndef SOFTGPU_READER_H
#define SOFTGPU_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hsa/hsa.h>

struct code_object_reader {
	const uint8_t *bytes;
	size_t size;
	bool is_file;
	int file;    /* the program's descriptor */
	char *uri;   /* as the loader extension gives it */
	void *owned; /* bytes that were read from a file */
	uint32_t references;
};

/* Borrows a reader: its bytes stay while the reference is held, even if it is destroyed. NULL for
 * an unknown handle. */
struct code_object_reader *reader_retain(hsa_code_object_reader_t handle);
void reader_release(struct code_object_reader *reader);

/* Makes a reader of SIZE bytes of FILE from OFFSET on. */
hsa_status_t reader_create_from_file(hsa_file_t file, size_t offset, size_t size,
				     hsa_code_object_reader_t *ret_reader);

#endif
