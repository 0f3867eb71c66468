/* The CSV writer: one table of a trace (format/tables/tables.h) as comma-separated values
 * (docs/format/csv.md). */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "format/format.h"
#include "format/tables/tables.h"
#include "wire/utf8.h"

/* The bytes of the first character of TEXT; 0 if it is not UTF-8, or a control character, which a
 * terminal would obey. Tab, CR and LF are kept. */
static size_t count_shown(const char *text)
{
	unsigned char first = (unsigned char)text[0];
	size_t bytes;

	if (first < 0x80)
		return (first >= ' ' && first != 0x7f) || strchr("\t\r\n", first);
	bytes = utf8_character(text, strnlen(text, 4));
	/* U+0080 to U+009F are control characters */
	return first == 0xc2 && (unsigned char)text[1] < 0xa0 ? 0 : bytes;
}

/* The bytes that U+FFFD replaces: a control character of two bytes, or one byte. */
static size_t count_hidden(const char *text)
{
	return utf8_character(text, strnlen(text, 4)) == 2 ? 2 : 1;
}

/* Writes the first character of TEXT, with '"' doubled, and returns its bytes. */
static size_t put_character(FILE *out, const char *text)
{
	size_t bytes = count_shown(text);

	if (!bytes) {
		fputs_unlocked(UTF8_REPLACEMENT, out);
		return count_hidden(text);
	}
	if (*text == '"')
		fputs_unlocked("\"", out);
	fwrite_unlocked(text, 1, bytes, out);
	return bytes;
}

/* True if the text needs neither quoting nor replacement, which most texts do not. */
static bool is_plain(const char *text)
{
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte < ' ' || byte >= 0x7f || byte == '"' || byte == ',')
			return false;
	}
	return true;
}

/* Writes a text field. A spreadsheet would evaluate a text that begins like a formula; a "'"
 * before it prevents that, and the spreadsheet does not show the "'". */
static void put_text(FILE *out, const char *text)
{
	bool is_formula = *text && strchr("=+-@\t\r", *text);
	bool is_quoted = text[strcspn(text, ",\"\t\r\n")] != '\0';

	if (is_quoted)
		putc_unlocked('"', out);
	if (is_formula)
		putc_unlocked('\'', out);
	if (is_plain(text)) {
		fputs_unlocked(text, out);
	} else {
		while (*text)
			text += put_character(out, text);
	}
	if (is_quoted)
		putc_unlocked('"', out);
}

static void put_u64(FILE *out, uint64_t value)
{
	char digits[24];
	char *at = digits + sizeof(digits) - 1;

	*at = '\0';
	do {
		*--at = (char)('0' + value % 10);
		value /= 10;
	} while (value > 0);
	fputs_unlocked(at, out);
}

static void put_i64(FILE *out, int64_t value)
{
	if (value >= 0)
		put_u64(out, (uint64_t)value);
	else
		fprintf(out, "%" PRId64, value);
}

/* With all digits that distinguish it from other doubles, or with a fixed number of decimals. */
static void put_double(FILE *out, double value, int decimals)
{
	if (decimals)
		fprintf(out, "%.*f", decimals, value);
	else
		fprintf(out, "%.17g", value);
}

static void put_cell(FILE *out, struct table_reader *reader, const struct table_column *column,
		     const void *row)
{
	struct table_cell cell = table_read_cell(reader, column, row);
	double value;

	if (!cell.is_known)
		return;
	switch (column->type) {
	case TABLE_BOOL:
	case TABLE_UINT32:
	case TABLE_UINT64:
		put_u64(out, cell.bits);
		break;
	case TABLE_INT32:
	case TABLE_INT64:
		put_i64(out, (int64_t)cell.bits);
		break;
	case TABLE_DOUBLE:
		memcpy(&value, &cell.bits, sizeof(value));
		put_double(out, value, column->decimals);
		break;
	case TABLE_NAME:
	case TABLE_TEXT:
		put_text(out, column->text(reader, cell.bits));
		break;
	}
}

static void put_header(FILE *out, const struct table *table)
{
	for (uint32_t i = 0; i < table->columns_count; i++)
		fprintf(out, "%s%s", i ? "," : "", table->columns[i].name);
	putc_unlocked('\n', out);
}

static void put_row(FILE *out, struct table_reader *reader, const struct table *table,
		    uint64_t number)
{
	const void *row = table->row(reader, number);

	for (uint32_t i = 0; i < table->columns_count; i++) {
		if (i > 0)
			putc_unlocked(',', out);
		put_cell(out, reader, &table->columns[i], row);
	}
	putc_unlocked('\n', out);
}

static int write_csv(const struct trace *trace, FILE *out, const struct format_options *options,
		     struct dagtap_error *error)
{
	const char *name = options ? options->table : NULL;
	const struct table *table = table_find(name);
	struct table_reader reader;
	uint64_t count;

	if (!table)
		return dagtap_error_set(error, -EINVAL, "csv has no table \"%s\"",
					name ? name : "");
	table_reader_init(&reader, trace);
	count = table->count(trace);
	errno = 0;
	put_header(out, table);
	for (uint64_t row = 0; row < count && !ferror_unlocked(out); row++)
		put_row(out, &reader, table, row);
	if (ferror_unlocked(out))
		return dagtap_error_set(error, errno ? -errno : -EIO, "csv: %s",
					strerror(errno ? errno : EIO));
	return 0;
}

const struct format format_csv = {
	.name = "csv",
	.extension = ".csv",
	.help = "comma-separated values, one table a file (docs/format/csv.md)",
	.tables = table_names,
	.write = write_csv,
};
