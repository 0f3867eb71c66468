/* Interns the file's texts. Rows are alike, so a small cache of recent texts answers most calls. */
#include <string.h>

#include "format/kineto/kineto_reader_load.h"

#define WORD_BYTES   sizeof(uint64_t)
/* texts up to this size are known by their first and last bytes */
#define WHOLE_BYTES  (2 * WORD_BYTES)
#define SAMPLES_MOST 8
#define MULTIPLIER   UINT64_C(0x9e3779b97f4a7c15)
#define KNOWN_BITS   12
_Static_assert(KREAD_KNOWN == 1u << KNOWN_BITS, "a place for each number of so many bits");

static uint64_t eight_bytes(const char *text)
{
	uint64_t value;

	memcpy(&value, text, sizeof(value));
	return value;
}

static uint64_t four_bytes(const char *text)
{
	uint32_t value;

	memcpy(&value, text, sizeof(value));
	return value;
}

/* Sets the first and last bytes of a text, up to 8 each. They may overlap. For texts of equal size
 * up to WHOLE_BYTES, equal ends mean equal texts. */
static void take_ends(const char *text, size_t bytes, struct kread_known *ends)
{
	if (bytes >= WORD_BYTES) {
		ends->first = eight_bytes(text);
		ends->last = eight_bytes(text + bytes - WORD_BYTES);
	} else if (bytes >= WORD_BYTES / 2) {
		ends->first = four_bytes(text);
		ends->last = four_bytes(text + bytes - WORD_BYTES / 2);
	} else if (bytes) {
		ends->first = (uint64_t)(uint8_t)text[0] << 8 | (uint8_t)text[bytes / 2];
		ends->last = (uint8_t)text[bytes - 1];
	}
}

/* The cache entry for a text: a hash of its ends and, for longer texts, of up to about
 * SAMPLES_MOST samples in between, because names of kernels may differ anywhere. */
static uint64_t place_of(const struct kread_known *ends, const char *text)
{
	uint64_t hash = (ends->first ^ ends->bytes) * MULTIPLIER + ends->last;

	if (ends->bytes > WHOLE_BYTES) {
		size_t step = ends->bytes / SAMPLES_MOST;

		if (step < WORD_BYTES)
			step = WORD_BYTES;
		for (size_t at = WORD_BYTES; at < ends->bytes - WORD_BYTES; at += step)
			hash = (hash ^ hash >> 32) * MULTIPLIER + eight_bytes(text + at);
	}
	hash = (hash ^ hash >> 32) * MULTIPLIER;
	return hash >> (64 - KNOWN_BITS);
}

static bool is_known(const struct kread_known *known, const struct kread_known *ends,
		     const char *text)
{
	if (known->first != ends->first || known->last != ends->last || known->bytes != ends->bytes)
		return false;
	return known->bytes <= WHOLE_BYTES ||
	       !memcmp(known->text + WORD_BYTES, text + WORD_BYTES, known->bytes - WHOLE_BYTES);
}

trace_string kread_intern(struct kread_load *load, const char *text, size_t bytes)
{
	struct kread_known ends = {.bytes = (uint32_t)bytes}, *known;

	take_ends(text, bytes, &ends);
	known = &load->known[place_of(&ends, text)];
	if (is_known(known, &ends, text))
		return known->string;
	ends.string = strtab_intern(load->import.strings, text, bytes);
	ends.text = kread_string(load, ends.string);
	/* Not cached if the interned text is shorter: the text has a zero byte, or there is no
	 * memory. */
	if (strlen(ends.text) == bytes)
		*known = ends;
	return ends.string;
}
