/* Writes protocol buffers: encodes messages into a buffer that is reused.
 *
 *	proto_reset(&proto);
 *	mark = proto_begin(&proto, 11);
 *	proto_put_u64(&proto, 9, 1);
 *	proto_end(&proto, mark);
 *	proto_write(&proto, 1, out);
 *
  * The encoding is canonical (shortest varints), so equal input gives equal bytes. Errors are kept
 * (-ENOMEM when the buffer cannot grow): nothing is added after the first one, and proto_write
 * returns it. Threading: one thread per writer.
 * Source: https://protobuf.dev/programming-guides/encoding/
 */
#ifndef DAGTAP_WIRE_PROTO_H
#define DAGTAP_WIRE_PROTO_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct proto {
	uint8_t *bytes; /* owned; the encoded fields */
	size_t used;
	size_t size;
	int error; /* -ENOMEM, or 0 */
};

/* An empty buffer; allocates nothing. */
void proto_init(struct proto *proto);

/* Frees the buffer, which may then be used again from empty. */
void proto_release(struct proto *proto);

/* Makes the buffer empty. Keeps its memory, and its error. */
void proto_reset(struct proto *proto);

/* A field of type uint32, uint64, bool or enum. */
void proto_put_u64(struct proto *proto, uint32_t field, uint64_t value);

/* A field of type int32 or int64. A negative value takes ten bytes. */
void proto_put_i64(struct proto *proto, uint32_t field, int64_t value);
void proto_put_fixed64(struct proto *proto, uint32_t field, uint64_t value);
void proto_put_double(struct proto *proto, uint32_t field, double value);
void proto_put_bytes(struct proto *proto, uint32_t field, const void *bytes, size_t count);

/* A field of type string. Each byte that is not part of a UTF-8 character becomes U+FFFD, because
 * readers may refuse a string field that is not UTF-8. */
void proto_put_text(struct proto *proto, uint32_t field, const char *text);

/* Adds fields that are encoded already. */
void proto_put_raw(struct proto *proto, const void *bytes, size_t count);

/* Enclose the fields of a nested message, to any depth. proto_begin returns the mark for
 * proto_end. */
size_t proto_begin(struct proto *proto, uint32_t field);
void proto_end(struct proto *proto, size_t mark);

/* Writes the buffer to OUT as one field, with its key and length. So a large outer message need
 * not be in memory. Returns 0 or a negative errno: an earlier error of the buffer, or of the
 * stream. */
int proto_write(const struct proto *proto, uint32_t field, FILE *out);

#endif
