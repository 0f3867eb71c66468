/* Protocol buffers, the writing side: messages into a buffer that is used again and again.
 *
 *	proto_reset(&proto);
 *	mark = proto_begin(&proto, 11);
 *	proto_put_u64(&proto, 9, 1);
 *	proto_end(&proto, mark);
 *	proto_write(&proto, 1, out);
 *
 * The encoding is canonical (shortest varints), so equal input gives equal bytes. Errors stick
 * (-ENOMEM when the buffer cannot grow): nothing is added after the first one, and proto_write
 * returns it. One writer belongs to one thread.
 * Facts: https://protobuf.dev/programming-guides/encoding/
 */
#ifndef DAGTAP_WIRE_PROTO_H
#define DAGTAP_WIRE_PROTO_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct proto {
	uint8_t *bytes;
	size_t used;
	size_t size;
	int error;
};

void proto_init(struct proto *proto);
void proto_release(struct proto *proto);

/* Empty again; keeps its room, and an error if there was one. */
void proto_reset(struct proto *proto);

/* Types uint32, uint64, bool, enum. */
void proto_put_u64(struct proto *proto, uint32_t field, uint64_t value);
/* Types int32 and int64, which spend ten bytes on a negative value. */
void proto_put_i64(struct proto *proto, uint32_t field, int64_t value);
void proto_put_fixed64(struct proto *proto, uint32_t field, uint64_t value);
void proto_put_double(struct proto *proto, uint32_t field, double value);
void proto_put_bytes(struct proto *proto, uint32_t field, const void *bytes, size_t count);
/* Bytes that are not UTF-8 become U+FFFD: a reader may refuse a string field that is not. */
void proto_put_text(struct proto *proto, uint32_t field, const char *text);

/* Fields that are encoded already. */
void proto_put_raw(struct proto *proto, const void *bytes, size_t count);

/* A nested message: everything put between begin and end. Nests as deep as wanted. */
size_t proto_begin(struct proto *proto, uint32_t field);
void proto_end(struct proto *proto, size_t mark);

/* Writes the buffer as one field of a message that is never held in memory. 0 or negative errno. */
int proto_write(const struct proto *proto, uint32_t field, FILE *out);

#endif
