/* An XSpace that says one thing: how a profile tells the user why it is empty.
 *
 * It is an event on the line "dagtap messages" of a host plane, as `dagtap export --format xspace
 * --compat pjrt` writes it (docs/format/xspace.md). XLA takes nothing but planes from a
 * plugin, so the errors of the XSpace itself would be lost. */
#ifndef DAGTAP_JAX_MESSAGE_H
#define DAGTAP_JAX_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#define MESSAGE_TEXT_BYTES 640
#define MESSAGE_BYTES	   768

/* Encodes TEXT, which is cut off at MESSAGE_TEXT_BYTES with its NUL, as an event from BEGIN_NS to
 * END_NS, in ns since 1970; XProf hides events without length. Bytes that are not ASCII become '?',
 * because readers refuse a text that is not UTF-8. RET_BYTES has room for MESSAGE_BYTES. Returns
 * how many bytes it has got. */
size_t message_xspace(const char *text, uint64_t begin_ns, uint64_t end_ns, uint8_t *ret_bytes);

#endif
