/* The terminal that a command prints on: its width, colours, and lines that are too long for it. A
 * pipe and a file get neither colours nor breaks. Threading: the main thread. */
#ifndef DAGTAP_CLI_TERMINAL_H
#define DAGTAP_CLI_TERMINAL_H

#include <stdbool.h>

enum terminal_style { TERMINAL_PLAIN, TERMINAL_HEAD, TERMINAL_LARGE, TERMINAL_BAD };

/* The columns of the terminal on stdout; 0: stdout is none, or it has no width. */
int terminal_width(void);

/* What to print on FD, which is 1 or 2, before text of this style, and before what follows it
 * (TERMINAL_PLAIN). "" if it is no terminal, if it is a dumb one, or if NO_COLOR is set (and not
 * empty). A static string. */
const char *terminal_style(int fd, enum terminal_style style);

/* From now on lines on stdout that are wider than the terminal are broken, at a space where there
 * is one, and go on below their text; and lines that begin with "note", "damage", "ok" or "NOT OK"
 * are coloured. Does nothing if stdout is no terminal. For text, before anything is printed. */
void terminal_wrap_lines(void);

#endif
