/* Code object readers: the bytes of a code object, from the program's memory or from a file. Any
 * thread; one lock protects all readers. */
#ifndef SOFTGPU_READER_H
#define SOFTGPU_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hsa/hsa.h>

/* All fields but the last are constant. */
struct code_object_reader {
	const uint8_t *bytes; /* the program's memory, or OWNED */
	size_t size;
	bool is_file;
	int file;	     /* the program's descriptor, which may be closed; -1: no file */
	char *uri;	     /* owned; the URI for the loader extension */
	void *owned;	     /* the bytes that were read from a file; else NULL */
	uint32_t references; /* the handle, and each reader_retain; under the lock */
};

/* Takes a reference to the reader of HANDLE; NULL for an unknown handle. The reader stays valid
 * until reader_release, even if the program destroys it meanwhile. The bytes stay valid as well,
 * unless they are the program's memory. */
struct code_object_reader *reader_retain(hsa_code_object_reader_t handle);
void reader_release(struct code_object_reader *reader);

/* Creates a reader for SIZE bytes of FILE from OFFSET on, and reads them. Returns
 * HSA_STATUS_ERROR_INVALID_FILE when FILE is not a regular file or cannot be read, and
 * HSA_STATUS_ERROR_INVALID_CODE_OBJECT when the range is empty or not all in the file. */
hsa_status_t reader_create_from_file(hsa_file_t file, size_t offset, size_t size,
				     hsa_code_object_reader_t *ret_reader);

#endif
