/* The Arrow writer: one table as an Arrow IPC stream
 * (https://arrow.apache.org/docs/format/Columnar.html). It writes what a stream of the C data
 * interface gives: the schema, then for each batch its dictionaries, which replace those of the
 * batch before, and its columns. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/arrow/arrow.h"
#include "wire/flatbuffer.h"

#define VERSION_5 4 /* MetadataVersion.V5 */

/* Numbers of Message.fbs and Schema.fbs. */
enum header { HEADER_SCHEMA = 1, HEADER_DICTIONARY = 2, HEADER_BATCH = 3 };
enum type { TYPE_INT = 2, TYPE_FLOAT = 3, TYPE_UTF8 = 5, TYPE_BOOL = 6 };
enum { DOUBLE_PRECISION = 2 };

/* Structs of Message.fbs. */
struct field_node {
	int64_t length, null_count;
};

struct body_buffer {
	int64_t offset, bytes;
};

struct ipc {
	FILE *out;
	struct flatbuffer *message;
	struct ArrowSchema schema;
	uint32_t columns_count;
	uint32_t *fields; /* places of the fields; owned, as are the next two */
	struct field_node *nodes;
	struct body_buffer *buffers; /* of a message: at most three a column */
	const void **bodies;	     /* what `buffers` describes; owned */
	uint32_t nodes_count, buffers_count;
	int64_t body_bytes;
};

static size_t pad8(size_t bytes)
{
	return (bytes + 7) / 8 * 8;
}

static void put_padded(FILE *out, const void *bytes, size_t count)
{
	static const char zeros[8];

	if (count)
		fwrite(bytes, 1, count, out);
	fwrite(zeros, 1, pad8(count) - count, out);
}

/* Writes the message with HEADER, then the buffers. */
static int put_message(struct ipc *ipc, enum header type, uint32_t header)
{
	struct flatbuffer *message = ipc->message;
	uint32_t prefix[2] = {UINT32_MAX};
	const void *bytes;
	size_t size;

	flatbuffer_begin(message);
	flatbuffer_number(message, 3, (uint64_t)ipc->body_bytes, 8);
	flatbuffer_place(message, 2, header);
	flatbuffer_number(message, 0, VERSION_5, 2);
	flatbuffer_number(message, 1, type, 1);
	bytes = flatbuffer_finish(message, flatbuffer_end(message), &size);
	if (!bytes)
		return -ENOMEM;
	prefix[1] = (uint32_t)size;
	fwrite(prefix, sizeof(prefix), 1, ipc->out);
	fwrite(bytes, 1, size, ipc->out);
	for (uint32_t i = 0; i < ipc->buffers_count; i++)
		put_padded(ipc->out, ipc->bodies[i], (size_t)ipc->buffers[i].bytes);
	return 0;
}

static uint32_t make_int(struct flatbuffer *message, unsigned bits, bool is_signed)
{
	flatbuffer_begin(message);
	flatbuffer_number(message, 0, bits, 4);
	flatbuffer_number(message, 1, is_signed, 1);
	return flatbuffer_end(message);
}

/* Makes the table of the type with FORMAT, one of those of arrow_format. */
static uint32_t make_type(struct flatbuffer *message, char format, enum type *ret_type)
{
	bool is_signed = format == 'i' || format == 'l';

	*ret_type = TYPE_INT;
	if (format == 'i' || format == 'I')
		return make_int(message, 32, is_signed);
	if (format == 'l' || format == 'L')
		return make_int(message, 64, is_signed);
	flatbuffer_begin(message);
	*ret_type = format == 'u' ? TYPE_UTF8 : format == 'g' ? TYPE_FLOAT : TYPE_BOOL;
	if (format == 'g')
		flatbuffer_number(message, 0, DOUBLE_PRECISION, 2);
	return flatbuffer_end(message);
}

/* Reads the next int32 of a schema's metadata. */
static int32_t take_int32(const char **metadata)
{
	int32_t value;

	memcpy(&value, *metadata, sizeof(value));
	*metadata += sizeof(value);
	return value;
}

static uint32_t take_string(struct flatbuffer *message, const char **metadata)
{
	int32_t bytes = take_int32(metadata);
	const char *text = *metadata;

	*metadata += bytes;
	return flatbuffer_string(message, text, (size_t)bytes);
}

/* Makes the vector of KeyValue tables of a schema's metadata; 0 if it has none. */
#define PAIRS_MAX 4
static uint32_t make_metadata(struct flatbuffer *message, const char *metadata)
{
	uint32_t pairs[PAIRS_MAX];
	int32_t count = metadata ? take_int32(&metadata) : 0;

	if (count > PAIRS_MAX)
		count = PAIRS_MAX;
	if (count == 0)
		return 0;
	for (int32_t i = 0; i < count; i++) {
		uint32_t key = take_string(message, &metadata);
		uint32_t value = take_string(message, &metadata);

		flatbuffer_begin(message);
		flatbuffer_place(message, 0, key);
		flatbuffer_place(message, 1, value);
		pairs[i] = flatbuffer_end(message);
	}
	return flatbuffer_places(message, pairs, (uint32_t)count);
}

static uint32_t make_encoding(struct flatbuffer *message, uint32_t id)
{
	uint32_t index = make_int(message, 32, true);

	flatbuffer_begin(message);
	flatbuffer_number(message, 0, id, 8);
	flatbuffer_place(message, 1, index);
	return flatbuffer_end(message);
}

/* A dictionary has its column's number. */
static uint32_t make_field(struct flatbuffer *message, const struct ArrowSchema *schema,
			   uint32_t number)
{
	uint32_t name = flatbuffer_string(message, schema->name, strlen(schema->name));
	uint32_t metadata = make_metadata(message, schema->metadata);
	uint32_t children = flatbuffer_places(message, NULL, 0);
	uint32_t encoding = schema->dictionary ? make_encoding(message, number) : 0;
	enum type what;
	uint32_t type = make_type(
		message, (schema->dictionary ? schema->dictionary : schema)->format[0], &what);

	flatbuffer_begin(message);
	flatbuffer_place(message, 0, name);
	flatbuffer_place(message, 3, type);
	flatbuffer_place(message, 4, encoding);
	flatbuffer_place(message, 5, children);
	flatbuffer_place(message, 6, metadata);
	flatbuffer_number(message, 1, 1, 1); /* nullable */
	flatbuffer_number(message, 2, what, 1);
	return flatbuffer_end(message);
}

static int put_schema(struct ipc *ipc)
{
	struct flatbuffer *message = ipc->message;
	uint32_t fields, metadata;

	for (uint32_t i = 0; i < ipc->columns_count; i++)
		ipc->fields[i] = make_field(message, ipc->schema.children[i], i);
	fields = flatbuffer_places(message, ipc->fields, ipc->columns_count);
	metadata = make_metadata(message, ipc->schema.metadata);
	flatbuffer_begin(message);
	flatbuffer_place(message, 1, fields);
	flatbuffer_place(message, 2, metadata);
	return put_message(ipc, HEADER_SCHEMA, flatbuffer_end(message));
}

/* Starts a message that describes arrays. */
static void begin_arrays(struct ipc *ipc)
{
	flatbuffer_restart(ipc->message);
	ipc->nodes_count = 0;
	ipc->buffers_count = 0;
	ipc->body_bytes = 0;
}

static void add_buffer(struct ipc *ipc, const void *bytes, size_t count)
{
	ipc->bodies[ipc->buffers_count] = bytes;
	ipc->buffers[ipc->buffers_count++] =
		(struct body_buffer){.offset = ipc->body_bytes, .bytes = (int64_t)count};
	ipc->body_bytes += (int64_t)pad8(count);
}

/* The bytes of LENGTH values with FORMAT; of a text those of the offsets. */
static size_t count_bytes(char format, size_t length)
{
	switch (format) {
	case 'b':
		return (length + 7) / 8;
	case 'u':
		return (length + 1) * sizeof(int32_t);
	case 'i':
	case 'I':
		return length * sizeof(int32_t);
	default:
		return length * sizeof(int64_t);
	}
}

static void add_array(struct ipc *ipc, char format, const struct ArrowArray *array)
{
	size_t length = (size_t)array->length;

	ipc->nodes[ipc->nodes_count++] =
		(struct field_node){.length = array->length, .null_count = array->null_count};
	add_buffer(ipc, array->buffers[0], array->buffers[0] ? (length + 7) / 8 : 0);
	add_buffer(ipc, array->buffers[1], count_bytes(format, length));
	if (format == 'u')
		add_buffer(ipc, array->buffers[2],
			   (size_t)((const int32_t *)array->buffers[1])[length]);
}

/* Makes the RecordBatch table of the arrays that were added. */
static uint32_t make_batch(struct ipc *ipc, int64_t length)
{
	struct flatbuffer *message = ipc->message;
	uint32_t nodes, buffers;

	nodes = flatbuffer_structs(message, ipc->nodes, ipc->nodes_count, sizeof(*ipc->nodes));
	buffers = flatbuffer_structs(message, ipc->buffers, ipc->buffers_count,
				     sizeof(*ipc->buffers));
	flatbuffer_begin(message);
	flatbuffer_number(message, 0, (uint64_t)length, 8);
	flatbuffer_place(message, 1, nodes);
	flatbuffer_place(message, 2, buffers);
	return flatbuffer_end(message);
}

static int put_dictionary(struct ipc *ipc, uint32_t id, const struct ArrowArray *dictionary)
{
	struct flatbuffer *message = ipc->message;
	uint32_t batch;

	begin_arrays(ipc);
	add_array(ipc, 'u', dictionary);
	batch = make_batch(ipc, dictionary->length);
	flatbuffer_begin(message);
	flatbuffer_number(message, 0, id, 8);
	flatbuffer_place(message, 1, batch);
	return put_message(ipc, HEADER_DICTIONARY, flatbuffer_end(message));
}

static int put_batch(struct ipc *ipc, const struct ArrowArray *batch)
{
	for (uint32_t i = 0; i < ipc->columns_count; i++) {
		const struct ArrowArray *dictionary = batch->children[i]->dictionary;

		if (dictionary && put_dictionary(ipc, i, dictionary) < 0)
			return -ENOMEM;
	}
	begin_arrays(ipc);
	for (uint32_t i = 0; i < ipc->columns_count; i++)
		add_array(ipc, ipc->schema.children[i]->format[0], batch->children[i]);
	return put_message(ipc, HEADER_BATCH, make_batch(ipc, batch->length));
}

static int put_batches(struct ipc *ipc, struct ArrowArrayStream *stream)
{
	struct ArrowArray batch;
	int err = -stream->get_next(stream, &batch);

	while (err == 0 && batch.release && !ferror_unlocked(ipc->out)) {
		err = put_batch(ipc, &batch);
		batch.release(&batch);
		if (err == 0)
			err = -stream->get_next(stream, &batch);
	}
	if (err == 0 && batch.release)
		batch.release(&batch);
	return err;
}

static int put_stream(struct ipc *ipc, struct ArrowArrayStream *stream)
{
	static const uint32_t end[2] = {UINT32_MAX, 0};
	size_t count = (size_t)ipc->schema.n_children;
	int err;

	ipc->columns_count = (uint32_t)count;
	ipc->fields = calloc(count, sizeof(*ipc->fields));
	ipc->nodes = calloc(count, sizeof(*ipc->nodes));
	ipc->buffers = calloc(3 * count, sizeof(*ipc->buffers));
	ipc->bodies = calloc(3 * count, sizeof(*ipc->bodies));
	if (!ipc->fields || !ipc->nodes || !ipc->buffers || !ipc->bodies)
		return -ENOMEM;
	err = put_schema(ipc);
	if (err == 0)
		err = put_batches(ipc, stream);
	if (err == 0)
		fwrite(end, sizeof(end), 1, ipc->out);
	return err;
}

static void release(struct ipc *ipc)
{
	free(ipc->fields);
	free(ipc->nodes);
	free(ipc->buffers);
	free(ipc->bodies);
	if (ipc->schema.release)
		ipc->schema.release(&ipc->schema);
}

static int write_arrow(const struct trace *trace, FILE *out, const struct format_options *options,
		       struct dagtap_error *error)
{
	struct ArrowArrayStream stream;
	struct flatbuffer message = {0};
	struct ipc ipc = {.out = out, .message = &message};
	int err = arrow_open(trace, options ? options->table : NULL, NULL, &stream, error);

	if (err < 0)
		return err;
	errno = 0;
	err = -stream.get_schema(&stream, &ipc.schema);
	if (err == 0)
		err = put_stream(&ipc, &stream);
	if (err == 0 && ferror_unlocked(out))
		err = errno ? -errno : -EIO;
	release(&ipc);
	flatbuffer_release(&message);
	stream.release(&stream);
	return err < 0 ? dagtap_error_set(error, err, "arrow: %s", strerror(-err)) : 0;
}

const struct format format_arrow = {
	.name = "arrow",
	.extension = ".arrows",
	.help = "an Arrow IPC stream, one table a file (docs/tables.md)",
	.tables = table_names,
	.write = write_arrow,
};
