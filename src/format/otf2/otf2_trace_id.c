/* Finds and replaces the number of an archive: see otf2_trace_id.h. */
#include "format/otf2/otf2_trace_id.h"

#include <errno.h>
#include <otf2/otf2.h>
#include <stdio.h>
#include <string.h>

#define ANCHOR_BYTES_MOST 65536

/* Which process the recording is of, and when it began. */
static uint64_t id_of(const struct trace *trace)
{
	uint64_t id = 0;

	for (uint32_t i = 0; i < trace->processes_count; i++)
		id ^= trace->processes[i].start_realtime_ns ^ (uint64_t)trace->processes[i].pid
								      << 40;
	return id ? id : 1;
}

static int read_id(const char *anchor, uint64_t *ret_id)
{
	OTF2_Reader *reader = OTF2_Reader_Open(anchor);
	int err = reader && OTF2_Reader_SetSerialCollectiveCallbacks(reader) == OTF2_SUCCESS &&
				  OTF2_Reader_GetTraceId(reader, ret_id) == OTF2_SUCCESS
			  ? 0
			  : -EIO;

	if (reader)
		OTF2_Reader_Close(reader);
	return err;
}

/* The offset of ID in BYTES; -1: it is not there, or several times. Numbers have the byte order of
 * the machine that wrote the file. */
static long find_id(const unsigned char *bytes, size_t size, uint64_t id)
{
	long found = -1;

	for (size_t at = 0; at + sizeof(id) <= size; at++) {
		if (memcmp(bytes + at, &id, sizeof(id)) != 0)
			continue;
		if (found >= 0)
			return -1;
		found = (long)at;
	}
	return found;
}

int otf2_trace_id_replace(const struct trace *trace, const char *anchor)
{
	unsigned char bytes[ANCHOR_BYTES_MOST];
	uint64_t drawn, id = id_of(trace);
	int err = read_id(anchor, &drawn);
	FILE *file = err == 0 ? fopen(anchor, "r+e") : NULL;
	long at;

	if (!file)
		return err ? err : -errno;
	at = find_id(bytes, fread(bytes, 1, sizeof(bytes), file), drawn);
	if (at >= 0 && (fseek(file, at, SEEK_SET) < 0 || fwrite(&id, sizeof(id), 1, file) != 1))
		err = -EIO;
	if (fclose(file) != 0 && err == 0)
		err = -errno;
	return err;
}
