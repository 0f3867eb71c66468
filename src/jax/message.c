/* Encodes the XSpace of a message. message.h has the contract. */
#include "jax/message.h"

#include <string.h>

#define PLANE "/host:ROCTRACER"
#define LINE  "dagtap messages"

/* As XSPACE_LINE_MESSAGES of src/format. */
#define LINE_NUMBER (UINT64_C(1) << 30)

/* Keys of protobuf: field << 3 | wire type, 0 for numbers and 2 for texts and messages. */
enum {
	XSPACE_PLANE = 1 << 3 | 2,
	PLANE_NAME = 2 << 3 | 2,
	PLANE_LINE = 3 << 3 | 2,
	PLANE_EVENT_METADATA = 4 << 3 | 2,
	LINE_ID = 1 << 3,
	LINE_NAME = 2 << 3 | 2,
	LINE_TIMESTAMP_NS = 3 << 3,
	LINE_EVENT = 4 << 3 | 2,
	EVENT_METADATA_ID = 1 << 3,
	EVENT_OFFSET_PS = 2 << 3,
	EVENT_DURATION_PS = 3 << 3,
	MAP_KEY = 1 << 3,
	MAP_VALUE = 2 << 3 | 2,
	METADATA_ID = 1 << 3,
	METADATA_NAME = 2 << 3 | 2,
};

/* A length takes two bytes, whatever it is, so that it can be put in afterwards. */
#define LENGTH_BYTES 2

static uint8_t *put_number(uint8_t *at, uint8_t key, uint64_t value)
{
	*at++ = key;
	for (; value >= 0x80; value >>= 7)
		*at++ = (uint8_t)(value | 0x80);
	*at++ = (uint8_t)value;
	return at;
}

static uint8_t *begin(uint8_t *at, uint8_t key)
{
	*at = key;
	return at + 1 + LENGTH_BYTES;
}

/* Ends what begin() began; FIRST is what it returned. */
static uint8_t *end(uint8_t *first, uint8_t *at)
{
	size_t bytes = (size_t)(at - first);

	first[-2] = (uint8_t)(bytes | 0x80);
	first[-1] = (uint8_t)(bytes >> 7);
	return at;
}

static uint8_t *put_text(uint8_t *at, uint8_t key, const char *text)
{
	uint8_t *first = begin(at, key);

	at = first;
	for (size_t i = 0; text[i] && i < MESSAGE_TEXT_BYTES - 1; i++)
		*at++ = (unsigned char)text[i] < 0x80 ? (uint8_t)text[i] : '?';
	return end(first, at);
}

static uint8_t *put_line(uint8_t *at, uint64_t begin_ns, uint64_t end_ns)
{
	uint8_t *line = begin(at, PLANE_LINE), *event;

	at = put_number(line, LINE_ID, LINE_NUMBER);
	at = put_text(at, LINE_NAME, LINE);
	at = put_number(at, LINE_TIMESTAMP_NS, begin_ns);
	event = begin(at, LINE_EVENT);
	at = put_number(event, EVENT_METADATA_ID, 1);
	at = put_number(at, EVENT_OFFSET_PS, 0);
	at = put_number(at, EVENT_DURATION_PS, end_ns > begin_ns ? (end_ns - begin_ns) * 1000 : 0);
	return end(line, end(event, at));
}

static uint8_t *put_metadata(uint8_t *at, const char *text)
{
	uint8_t *entry = begin(at, PLANE_EVENT_METADATA), *value;

	at = put_number(entry, MAP_KEY, 1);
	value = begin(at, MAP_VALUE);
	at = put_number(value, METADATA_ID, 1);
	at = put_text(at, METADATA_NAME, text);
	return end(entry, end(value, at));
}

size_t message_xspace(const char *text, uint64_t begin_ns, uint64_t end_ns, uint8_t *ret_bytes)
{
	uint8_t *plane = begin(ret_bytes, XSPACE_PLANE);
	uint8_t *at = put_text(plane, PLANE_NAME, PLANE);

	at = put_line(at, begin_ns, end_ns);
	at = put_metadata(at, text);
	return (size_t)(end(plane, at) - ret_bytes);
}
