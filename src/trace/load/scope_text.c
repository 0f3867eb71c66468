/* Attributes in the text of a scope (see scope_text.h). */
#include "trace/load/scope_text.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* A longer value is a text, not a number. */
#define NUMBER_BYTES_MOST 64
#define QUOTES_MOST	  64

struct span {
	const char *at;
	size_t bytes;
};

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct span trim(struct span span)
{
	while (span.bytes && is_space(*span.at)) {
		span.at++;
		span.bytes--;
	}
	while (span.bytes && is_space(span.at[span.bytes - 1]))
		span.bytes--;
	return span;
}

/* ---- PyTorch's texts ---- */

static bool skip(struct span *rest, const char *text)
{
	size_t bytes = strlen(text);

	if (rest->bytes < bytes || memcmp(rest->at, text, bytes) != 0)
		return false;
	rest->at += bytes;
	rest->bytes -= bytes;
	return true;
}

/* Skips the characters of REST that are in ALLOWED. Returns their number. */
static size_t skip_all(struct span *rest, const char *allowed)
{
	size_t count = 0;

	while (count < rest->bytes && rest->at[count] && strchr(allowed, rest->at[count]))
		count++;
	rest->at += count;
	rest->bytes -= count;
	return count;
}

/* Skips a list of numbers, pairs and lists. */
static bool skip_list(struct span *rest)
{
	size_t depth = 0;

	do {
		if (skip(rest, "["))
			depth++;
		else if (depth && skip(rest, "]"))
			depth--;
		else if (!depth || !skip_all(rest, "0123456789-, ()"))
			return false;
	} while (depth);
	return true;
}

/* True if all of REST is parts that PyTorch writes behind a name, in its order. */
static bool is_torch_rest(struct span rest)
{
	static const char digits[] = "0123456789";
	bool is_read = true;

	if (skip(&rest, ", seq = "))
		is_read = skip_all(&rest, digits) > 0;
	if (is_read && skip(&rest, ", op_id = "))
		is_read = skip_all(&rest, digits) > 0;
	if (is_read && skip(&rest, ", sizes = "))
		is_read = skip_list(&rest);
	if (is_read && skip(&rest, ", input_op_ids = "))
		is_read = skip_list(&rest);
	return is_read && rest.bytes == 0;
}

static void split_torch(struct scope_text *parts)
{
	const char *end = parts->name + parts->name_bytes, *at = parts->name;

	while ((at = memchr(at, ',', (size_t)(end - at))) != NULL) {
		if (at > parts->name && is_torch_rest((struct span){at, (size_t)(end - at)})) {
			parts->name_bytes = (size_t)(at - parts->name);
			parts->rest = at + 1;
			parts->rest_bytes = (size_t)(end - parts->rest);
			return;
		}
		at++;
	}
}

/* ---- both ---- */

void scope_text_split(const char *text, size_t bytes, struct scope_text *ret_parts)
{
	const char *mark = memchr(text, '#', bytes), *second;
	struct span name;

	*ret_parts = (struct scope_text){.name = text, .name_bytes = bytes};
	if (!bytes || text[bytes - 1] != '#') {
		split_torch(ret_parts);
		return;
	}
	name = trim((struct span){text, (size_t)(mark - text)});
	ret_parts->name = name.at;
	ret_parts->name_bytes = name.bytes;
	if (mark == text + bytes - 1)
		return;
	ret_parts->rest = mark + 1;
	second = memchr(mark + 1, '#', bytes - (size_t)(mark + 1 - text));
	ret_parts->rest_bytes = (size_t)(second - ret_parts->rest);
}

/* ---- pairs ---- */

/* The bracket that closes C, or 0. */
static char closing_of(char c)
{
	static const char pairs[] = "{}()[]";
	const char *found = c ? strchr(pairs, c) : NULL;

	return (char)(found && (found - pairs) % 2 == 0 ? found[1] : '\0');
}

/* The quotes and brackets that are open. If they nest deeper than QUOTES_MOST, they never close,
 * and the rest of the text is one entry. */
struct quotes {
	char closing[QUOTES_MOST];
	size_t depth;
};

static void quotes_see(struct quotes *quotes, char c)
{
	bool is_quote = c == '"' || c == '\'';
	char closing = (char)(is_quote ? c : closing_of(c));

	if (quotes->depth && quotes->depth <= QUOTES_MOST &&
	    quotes->closing[quotes->depth - 1] == c) {
		quotes->depth--;
	} else if (closing) {
		if (quotes->depth < QUOTES_MOST)
			quotes->closing[quotes->depth] = closing;
		quotes->depth++;
	}
}

/* Takes the text up to the next comma that separates, and skips the comma. */
static struct span take_pair(struct scope_text *parts)
{
	struct quotes quotes = {.depth = 0};
	struct span pair = {parts->rest, 0};

	while (pair.bytes < parts->rest_bytes && (quotes.depth || parts->rest[pair.bytes] != ','))
		quotes_see(&quotes, parts->rest[pair.bytes++]);
	parts->rest += pair.bytes;
	parts->rest_bytes -= pair.bytes;
	if (parts->rest_bytes) {
		parts->rest++;
		parts->rest_bytes--;
	}
	return pair;
}

static bool split_pair(struct span pair, struct span *ret_key, struct span *ret_value)
{
	const char *equals = pair.bytes < 2 ? NULL : memchr(pair.at, '=', pair.bytes);

	if (!equals)
		return false;
	*ret_key = trim((struct span){pair.at, (size_t)(equals - pair.at)});
	*ret_value = trim((struct span){equals + 1, (size_t)(pair.at + pair.bytes - equals - 1)});
	return ret_key->bytes && ret_value->bytes;
}

/* ---- values ---- */

static bool is_integer(const char *text)
{
	text += *text == '-' || *text == '+';
	return *text && text[strspn(text, "0123456789")] == '\0';
}

static bool read_integer(const char *text, struct trace_scope_attribute *attribute)
{
	if (!is_integer(text))
		return false;
	errno = 0;
	attribute->kind = RECORD_ATTRIBUTE_INT64;
	attribute->value.int64 = strtoll(text, NULL, 10);
	if (!errno)
		return true;
	errno = 0;
	attribute->kind = RECORD_ATTRIBUTE_UINT64;
	attribute->value.uint64 = strtoull(text, NULL, 10);
	return !errno && *text != '-';
}

/* The decimal separator is a point in every locale of the program. A hexadecimal number is text. */
static bool read_double(const char *text, struct trace_scope_attribute *attribute)
{
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	char *end = NULL;

	if (!c || strpbrk(text, "xX")) {
		if (c)
			freelocale(c);
		return false;
	}
	attribute->kind = RECORD_ATTRIBUTE_DOUBLE;
	attribute->value.float64 = strtod_l(text, &end, c);
	freelocale(c);
	return end != text && !*end;
}

static void read_value(struct span value, struct strtab *strings,
		       struct trace_scope_attribute *attribute)
{
	char number[NUMBER_BYTES_MOST + 1] = "";

	if (value.bytes <= NUMBER_BYTES_MOST)
		memcpy(number, value.at, value.bytes);
	if (read_integer(number, attribute) || read_double(number, attribute))
		return;
	attribute->kind = RECORD_ATTRIBUTE_TEXT;
	attribute->value.text = strtab_intern(strings, value.at, value.bytes);
}

bool scope_text_next(struct scope_text *parts, struct strtab *strings,
		     struct trace_scope_attribute *ret_attribute)
{
	struct span key, value;

	while (parts->rest_bytes) {
		if (!split_pair(take_pair(parts), &key, &value))
			continue;
		*ret_attribute = (struct trace_scope_attribute){
			.key = strtab_intern(strings, key.at, key.bytes)};
		read_value(value, strings, ret_attribute);
		return true;
	}
	return false;
}
