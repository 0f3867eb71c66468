/* The small records that several capture sources write: witnesses, states of sources, notes. */
#include <string.h>

#include "capture/capture_session.h"

/* Fixed arrays of char in records are filled with zeros, and not terminated when full. */
static void copy_name(char *name, size_t size, const char *text)
{
	memset(name, 0, size);
	memcpy(name, text, strnlen(text, size));
}

static void write_witness(const char *source, const char *key, uint64_t value)
{
	static _Atomic uint32_t last_number;
	struct record_witness witness = {.ns = session_now_ns(), .value = value};
	uint32_t number = atomic_fetch_add_explicit(&last_number, 1, memory_order_relaxed) + 1;

	copy_name(witness.source, sizeof(witness.source), source);
	copy_name(witness.key, sizeof(witness.key), key);
	writer_put(session_writer(), RECORD_WITNESS, number, &witness, sizeof(witness));
}

void session_witness(enum witness witness, uint64_t value)
{
	write_witness(witness_names[witness].source, witness_names[witness].key, value);
}

void session_device_count(const char *name, uint64_t value)
{
	write_witness(WITNESS_DEVICE, name, value);
}

void session_source(const char *name, enum record_source_state state, const char *text)
{
	size_t length = strlen(text);
	struct record_source source = {.ns = session_now_ns(),
				       .text_bytes = writer_text_bytes(length)};

	copy_name(source.name, sizeof(source.name), name);
	writer_put_text(session_writer(), RECORD_SOURCE, state, &source, sizeof(source), text,
			length);
}

void session_note(const char *text)
{
	size_t length = strlen(text);
	struct record_note note = {.ns = session_now_ns()};

	writer_put_text(session_writer(), RECORD_NOTE, writer_text_bytes(length), &note,
			sizeof(note), text, length);
}
