/* Shortens names of kernels (short_names.h). A demangled name is cut into pieces at its brackets;
 * nothing else of C++ is parsed, so that any text gives some short name. */
#include "analyze/short_names.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"

/* How much of a name is kept. */
enum level {
	LEVEL_FUNCTOR = 1,  /* the first functor, and the first functor among its arguments */
	LEVEL_FUNCTOR_TYPE, /* with the types among its arguments */
	LEVEL_FUNCTORS,	    /* the same of all functors */
	LEVEL_ARGUMENTS,    /* all template arguments */
	LEVEL_PARAMETERS,   /* and the parameters of the function */
	LEVEL_FULL,
};

#define NESTING_MAX 32 /* deeper template arguments are left out */

struct slice {
	const char *text;
	size_t length;
};

static struct slice part_of(struct slice whole, size_t begin, size_t end)
{
	return (struct slice){whole.text + begin, end - begin};
}

static bool begins_with(struct slice slice, const char *text)
{
	return slice.length >= strlen(text) && !memcmp(slice.text, text, strlen(text));
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* ---- pieces ---- */

/* The end of the operator's name that begins at AT, as in "operator()"; AT if none begins there. */
static size_t skip_operator(struct slice slice, size_t at)
{
	size_t end = at + strlen("operator");

	if (!begins_with(part_of(slice, at, slice.length), "operator") ||
	    (at && is_word(slice.text[at - 1])) || (end < slice.length && is_word(slice.text[end])))
		return at;
	if (begins_with(part_of(slice, end, slice.length), "()"))
		return end + 2;
	while (end < slice.length && strchr("<>=-!+*/%^&|~,", slice.text[end]))
		end++;
	return end;
}

/* The end of the piece at AT: a group in brackets, the name of an operator, or a character. */
static size_t skip_piece(struct slice slice, size_t at)
{
	size_t end = skip_operator(slice, at);
	int depth = 0;

	if (end > at)
		return end;
	for (end = at; end < slice.length;) {
		size_t after = skip_operator(slice, end);

		if (after > end) {
			end = after;
			continue;
		}
		if (strchr("<([{", slice.text[end]))
			depth++;
		else if (strchr(">)]}", slice.text[end]) &&
			 !(end && slice.text[end] == '>' && slice.text[end - 1] == '-'))
			depth--;
		end++;
		if (depth <= 0)
			break;
	}
	return end;
}

static struct slice trim(struct slice slice)
{
	while (slice.length && slice.text[0] == ' ')
		slice = part_of(slice, 1, slice.length);
	while (slice.length && slice.text[slice.length - 1] == ' ')
		slice.length--;
	return slice;
}

/* The name without its return type. */
static struct slice cut_return_type(struct slice name)
{
	size_t begin = 0, end = name.length;

	/* A space behind the parameters is not that of the return type: " const", " [clone]". */
	for (size_t at = 0; at < name.length; at = skip_piece(name, at)) {
		if (name.text[at] == '(' && at && name.text[at - 1] != ':' &&
		    name.text[at - 1] != ' ')
			end = at;
	}
	for (size_t at = 0; at < end; at = skip_piece(name, at)) {
		if (name.text[at] == ' ')
			begin = at + 1;
	}
	return part_of(name, begin, name.length);
}

/* The name without its parameters and what follows them. */
static struct slice cut_parameters(struct slice name)
{
	size_t end = name.length;

	for (size_t at = 0; at < name.length; at = skip_piece(name, at)) {
		if (name.text[at] == '(' && at && name.text[at - 1] != ':')
			end = at;
	}
	return part_of(name, 0, end);
}

/* Whether the part of a qualified name says nothing alone: a lambda, an operator, no name. */
static bool is_nameless(struct slice part)
{
	return !part.length || !is_word(part.text[0]) || skip_operator(part, 0) > 0;
}

/* The last part of a qualified name that says something. */
static struct slice find_telling(struct slice name)
{
	struct slice found = {0};
	size_t begin = 0;

	for (size_t at = 0; at <= name.length;
	     at = at < name.length ? skip_piece(name, at) : at + 1) {
		bool is_end = at == name.length;

		if (!is_end && !begins_with(part_of(name, at, name.length), "::"))
			continue;
		if (!is_nameless(part_of(name, begin, at)))
			found = part_of(name, begin, at);
		begin = at + 2;
		at += !is_end;
	}
	return found.length ? found : name;
}

/* ---- template arguments ---- */

static bool is_builtin(struct slice type)
{
	static const char *const words[] = {
		"void",	  "bool",    "char",	    "short",	     "int",	"long",
		"float",  "double",  "half",	    "unsigned",	     "signed",	"const",
		"__half", "__half2", "true",	    "false",	     "wchar_t", "__int128",
		"float2", "float4",  "nv_bfloat16", "__nv_bfloat16",
	};
	size_t length = 0;

	while (length < type.length && is_word(type.text[length]))
		length++;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i]) == length && !memcmp(words[i], type.text, length))
			return true;
	}
	return length == type.length && length > 2 && !memcmp(type.text + length - 2, "_t", 2);
}

static bool is_type(struct slice argument)
{
	return argument.length && is_word(argument.text[0]) &&
	       !isdigit((unsigned char)argument.text[0]) && !begins_with(argument, "true") &&
	       !begins_with(argument, "false");
}

/* Whether the argument is a class that says what the kernel does, and no type of data. */
static bool is_functor(struct slice argument)
{
	int last = argument.length ? argument.text[argument.length - 1] : ' ';

	return is_type(argument) && !is_builtin(argument) && !begins_with(argument, "std::") &&
	       !begins_with(argument, "c10::") && last != '*' && last != '&';
}

/* The template arguments of a part of a name, without the brackets; empty: it has none. */
static struct slice find_arguments(struct slice part)
{
	for (size_t at = 0; at < part.length; at = skip_piece(part, at)) {
		size_t end = skip_piece(part, at);

		if (part.text[at] == '<' && end > at + 1 && part.text[end - 1] == '>')
			return part_of(part, at + 1, end - 1);
	}
	return (struct slice){0};
}

/* Takes the first argument off *ARGUMENTS. */
static struct slice take_argument(struct slice *arguments)
{
	struct slice whole = *arguments;
	size_t end = 0;

	while (end < whole.length && whole.text[end] != ',')
		end = skip_piece(whole, end);
	*arguments = part_of(whole, end < whole.length ? end + 1 : end, whole.length);
	return trim(part_of(whole, 0, end));
}

/* ---- writing ---- */

/* Writes TEXT without the namespaces in it. */
static void put_without_namespaces(FILE *out, struct slice text)
{
	static const char nameless[] = "(anonymous namespace)::";
	size_t at = 0;

	while (at < text.length) {
		struct slice rest = part_of(text, at, text.length);
		size_t word = 0;

		while (word < rest.length && is_word(rest.text[word]))
			word++;
		if (word && begins_with(part_of(rest, word, rest.length), "::")) {
			at += word + 2;
		} else if (begins_with(rest, nameless)) {
			at += strlen(nameless);
		} else if (begins_with(rest, " >")) {
			at++;
		} else {
			word += !word;
			fwrite(rest.text, 1, word, out);
			at += word;
		}
	}
}

/* Writes a name with the template arguments that LEVEL keeps. */
static void put_name(FILE *out, struct slice name, enum level level, int depth)
{
	struct slice part = find_telling(name), arguments = find_arguments(part);
	bool is_all = level == LEVEL_FUNCTORS || (depth && level > LEVEL_FUNCTOR);
	size_t word = 0;
	int put = 0;

	while (word < part.length && is_word(part.text[word]))
		word++;
	if (!word)
		word = part.length;
	fwrite(part.text, 1, word, out);
	while (arguments.length && depth < NESTING_MAX && (is_all || put == 0)) {
		struct slice argument = take_argument(&arguments);
		bool has_functor = is_functor(argument);

		if (!has_functor && !(is_all && depth && is_type(argument)))
			continue;
		fputs(put++ ? ", " : "<", out);
		if (has_functor)
			put_name(out, argument, level, depth + 1);
		else
			put_without_namespaces(out, argument);
	}
	if (put)
		putc('>', out);
}

/* Returns the short name of FULL at LEVEL, which the caller frees; NULL: out of memory. */
static char *shorten(const char *full, enum level level)
{
	struct slice name = cut_return_type((struct slice){full, strlen(full)});
	char *text = NULL;
	size_t bytes;
	FILE *out;

	if (level == LEVEL_FULL || !strpbrk(full, "<(:"))
		return strdup(full);
	out = open_memstream(&text, &bytes);
	if (!out)
		return NULL;
	if (level == LEVEL_PARAMETERS)
		put_without_namespaces(out, name);
	else if (level == LEVEL_ARGUMENTS)
		put_without_namespaces(out, cut_parameters(name));
	else
		put_name(out, cut_parameters(name), level, 0);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

/* ---- all names ---- */

static int by_full(const void *left, const void *right)
{
	return strcmp(((const struct short_name *)left)->full,
		      ((const struct short_name *)right)->full);
}

static int by_text(const void *left, const void *right)
{
	const struct short_name *const *a = left, *const *b = right;

	return strcmp((*a)->text, (*b)->text);
}

/* Gives ROW the short name of its next level. */
static int lift(struct short_name *row)
{
	char *text = shorten(row->full, (enum level)(row->level + 1));

	if (!text)
		return -ENOMEM;
	free(row->text);
	row->text = text;
	row->level++;
	return 0;
}

/* Lifts all rows whose short names are equal. Returns how many, or -ENOMEM. A full name differs
 * from all others, so repeating it comes to an end. */
static int64_t lift_equal(struct short_name **rows, uint32_t count)
{
	int64_t lifted = 0;

	qsort(rows, count, sizeof(*rows), by_text);
	for (uint32_t first = 0, stop; first < count; first = stop) {
		for (stop = first + 1; stop < count; stop++) {
			if (strcmp(rows[first]->text, rows[stop]->text) != 0)
				break;
		}
		/* The rows are lifted after the comparisons, since this frees their texts. */
		for (uint32_t i = first; i < stop && stop - first > 1; i++) {
			if (rows[i]->level == LEVEL_FULL)
				continue;
			if (lift(rows[i]) < 0)
				return -ENOMEM;
			lifted++;
		}
	}
	return lifted;
}

static int shorten_all(struct short_names *names)
{
	struct short_name **rows = table_alloc(names->count, sizeof(*rows));
	int64_t lifted = rows ? 1 : -ENOMEM;

	for (uint32_t i = 0; i < names->count && lifted > 0; i++) {
		rows[i] = &names->rows[i];
		if (lift(rows[i]) < 0)
			lifted = -ENOMEM;
	}
	while (lifted > 0)
		lifted = lift_equal(rows, names->count);
	free(rows);
	return (int)lifted;
}

int short_names_make(const char *const *names, uint32_t count, struct short_names *ret_names)
{
	struct short_names made = {.rows = table_zeroed(count, sizeof(*made.rows))};
	int err;

	if (!made.rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		made.rows[i].full = names[i];
	qsort(made.rows, count, sizeof(*made.rows), by_full);
	for (uint32_t i = 0; i < count; i++) {
		if (made.count == 0 || by_full(&made.rows[i], &made.rows[made.count - 1]) != 0)
			made.rows[made.count++].full = made.rows[i].full;
	}
	err = shorten_all(&made);
	if (err < 0)
		short_names_release(&made);
	else
		*ret_names = made;
	return err;
}

int short_names_of_traces(const struct trace *const *traces, uint32_t count,
			  struct short_names *ret_names)
{
	const char **names;
	uint64_t room = 0;
	uint32_t used = 0;
	int err;

	for (uint32_t i = 0; i < count; i++)
		room += (uint64_t)traces[i]->works_count + traces[i]->nodes_count;
	names = room < UINT32_MAX ? table_alloc(room, sizeof(*names)) : NULL;
	if (!names)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		const struct trace *trace = traces[i];

		for (uint32_t work = 0; work < trace->works_count; work++) {
			if (trace->works[work].kind == TRACE_KERNEL)
				names[used++] = trace_text(trace, trace->works[work].name);
		}
		for (uint32_t node = 0; node < trace->nodes_count; node++) {
			if (trace->nodes[node].type == RECORD_NODE_KERNEL)
				names[used++] = trace_text(trace, trace->nodes[node].name);
		}
	}
	err = short_names_make(names, used, ret_names);
	free(names);
	return err;
}

void short_names_release(struct short_names *names)
{
	for (uint32_t i = 0; i < names->count; i++)
		free(names->rows[i].text);
	free(names->rows);
	*names = (struct short_names){0};
}

const char *short_names_find(const struct short_names *names, const char *full)
{
	const struct short_name key = {.full = full};
	const struct short_name *found = NULL;

	if (names->count)
		found = bsearch(&key, names->rows, names->count, sizeof(key), by_full);
	return found ? found->text : full;
}
