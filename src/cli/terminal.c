/* Colours, and a stream in the place of stdout that breaks lines (terminal.h). */
#include "cli/terminal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/table.h"

#define WIDTH_LEAST 20 /* on a narrower terminal lines are left as they are */
#define STYLE_END   "\033[0m"

int terminal_width(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_col;
}

static bool has_colour(int fd)
{
	const char *none = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fd) && !(none && *none) && term && *term && strcmp(term, "dumb") != 0;
}

const char *terminal_style(int fd, enum terminal_style style)
{
	static const char *const codes[] = {
		[TERMINAL_PLAIN] = STYLE_END,
		[TERMINAL_HEAD] = "\033[1m",
		[TERMINAL_LARGE] = "\033[33m",
		[TERMINAL_BAD] = "\033[31m",
	};

	return has_colour(fd) ? codes[style] : "";
}

/* ---- lines ---- */

/* The line that is being printed; it is written when it is complete. */
static struct line {
	char *text;
	size_t bytes, room;
	int width; /* of the terminal */
	bool is_coloured;
} line;

static int write_all(const char *text, size_t bytes)
{
	while (bytes) {
		ssize_t written = write(STDOUT_FILENO, text, bytes);

		if (written < 0 && errno != EINTR)
			return -errno;
		if (written > 0) {
			text += written;
			bytes -= (size_t)written;
		}
	}
	return 0;
}

/* The bytes of the escape sequence at the beginning of TEXT; 0: there is none. */
static size_t escape_bytes(const char *text, const char *end)
{
	const char *m = *text == '\033' ? memchr(text, 'm', (size_t)(end - text)) : NULL;

	return m ? (size_t)(m - text) + 1 : 0;
}

/* How many bytes of TEXT are printed on a line of WIDTH characters: all, or up to the last space,
 * or, of one long word, what fits. */
static size_t fitting_bytes(const char *text, const char *end, int width)
{
	const char *space = NULL, *at = text;
	int chars = 0;

	while (at < end) {
		size_t escape = escape_bytes(at, end);

		if (escape) {
			at += escape;
			continue;
		}
		if (((unsigned char)*at & 0xc0) != 0x80 && chars++ == width)
			break;
		if (*at == ' ' && at > text)
			space = at;
		at++;
	}
	if (at < end && *at != ' ' && space)
		at = space;
	return (size_t)(at - text);
}

/* Where the text of a line begins that has a label before it, as in "copies    3": the lines that
 * continue it are indented so. */
static int find_indent(const char *text, const char *end, int width)
{
	const char *at = text;

	while (at < end && *at == ' ')
		at++;
	while (at + 1 < end && (at[0] != ' ' || at[1] != ' '))
		at++;
	while (at < end && *at == ' ')
		at++;
	return at < end && at - text <= width / 3 ? (int)(at - text) : 2;
}

static int write_broken(const char *text, const char *end)
{
	int indent = find_indent(text, end, line.width), err = 0, width = line.width;

	while (err == 0) {
		size_t bytes = fitting_bytes(text, end, width);

		err = write_all(text, bytes);
		text += bytes;
		while (text < end && *text == ' ')
			text++;
		if (text == end || err < 0)
			return err;
		err = write_all("\n", 1);
		for (int i = 0; i < indent && err == 0; i++)
			err = write_all(" ", 1);
		width = line.width - indent;
	}
	return err;
}

static const char *colour_of_line(void)
{
	static const struct {
		const char *begin, *code;
	} colours[] = {{"note", "\033[33m"},
		       {"damage", "\033[31m"},
		       {"NOT OK", "\033[1;31m"},
		       {"ok:", "\033[32m"}};

	for (size_t i = 0; i < sizeof(colours) / sizeof(colours[0]) && line.is_coloured; i++) {
		size_t bytes = strlen(colours[i].begin);

		if (line.bytes >= bytes && !memcmp(line.text, colours[i].begin, bytes))
			return colours[i].code;
	}
	return NULL;
}

/* Writes the line, and its end if HAS_END. */
static int finish_line(bool has_end)
{
	const char *code = colour_of_line();
	int err = code ? write_all(code, strlen(code)) : 0;

	if (err == 0)
		err = write_broken(line.text, line.text + line.bytes);
	if (err == 0 && code)
		err = write_all(STYLE_END, strlen(STYLE_END));
	if (err == 0 && has_end)
		err = write_all("\n", 1);
	line.bytes = 0;
	return err;
}

static int add_byte(char byte)
{
	if (table_reserve((void **)&line.text, &line.room, line.bytes + 1, 1) < 0)
		return -ENOMEM;
	line.text[line.bytes++] = byte;
	return 0;
}

static ssize_t write_lines(void *unused, const char *text, size_t bytes)
{
	(void)unused;
	for (size_t i = 0; i < bytes; i++) {
		int err = text[i] == '\n' ? finish_line(true) : add_byte(text[i]);

		if (err < 0) {
			errno = -err;
			return 0;
		}
	}
	return (ssize_t)bytes;
}

static int close_lines(void *unused)
{
	int err = line.bytes ? finish_line(false) : 0;

	(void)unused;
	free(line.text);
	line.text = NULL;
	return err < 0 ? -1 : 0;
}

void terminal_wrap_lines(void)
{
	static const cookie_io_functions_t functions = {.write = write_lines, .close = close_lines};
	FILE *stream;

	line.width = terminal_width();
	line.is_coloured = has_colour(STDOUT_FILENO);
	if (line.width < WIDTH_LEAST)
		return;
	stream = fopencookie(NULL, "w", functions);
	if (stream)
		stdout = stream;
}
