/* Writes models as Perfetto and finds the packets that were written. */
#ifndef DAGTAP_TESTS_FORMAT_PERFETTO_DECODE_H
#define DAGTAP_TESTS_FORMAT_PERFETTO_DECODE_H

#include "format/format.h"
#include "format/perfetto/perfetto_fields.h"
#include "kept.h"
#include "proto_decode.h"
#include "sample.h"

struct perfetto_file {
	char *text;
	struct message message;
};

/* Writes TRACE with the render stages of GPUs, or as FORMAT. The case's end frees the file. */
struct perfetto_file perfetto_write(const struct trace *trace);
struct perfetto_file perfetto_write_as(const struct trace *trace, const struct format *format);

/* Finds the INDEX-th packet that has FIELD; and the number of such packets. */
bool perfetto_packet(const struct perfetto_file *file, uint32_t field, unsigned index,
		     struct message *ret_packet);
unsigned perfetto_count(const struct perfetto_file *file, uint32_t field);

/*
 * Returns the render stage event of an activity of the sample; they have the same order. RET_NS may
 * be NULL.
 */
struct message perfetto_stage(const struct perfetto_file *file, unsigned activity,
			      uint64_t *ret_ns);

#endif
