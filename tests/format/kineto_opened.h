/*
 * Opens Kineto files that a test has written out as text or as rows. The end of the case closes the
 * traces (read_case.h).
 */
#ifndef DAGTAP_TESTS_FORMAT_KINETO_OPENED_H
#define DAGTAP_TESTS_FORMAT_KINETO_OPENED_H

#include "read_case.h"

#define KINETO_BASE UINT64_C(1790857026000000000)

/* The error message of the last file that was opened; "" if it was not refused. */
extern char kineto_message[1024];

/* Return NULL if the file is refused. In the text ' stands for ". */
struct trace *kineto_open_bytes(const void *bytes, size_t size);
struct trace *kineto_open_text(const char *text);

/*
 * Opens a file with the members HEAD, the events ROWS (ending with NULL), and TAIL; asserts that it
 * is not refused. In all of them ' stands for ".
 */
struct trace *kineto_open_members(const char *head, const char *const *rows, const char *tail);
#define KINETO_ROWS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The same for rows alone, in a file whose times are relative to KINETO_BASE. */
#define kineto_open_rows(...)                                                                      \
	kineto_open_members("'baseTimeNanoseconds': 1790857026000000000, ",                        \
			    KINETO_ROWS(__VA_ARGS__), "")

/* A row of a call and of an activity. ARGS are further members of its args. */
#define CALL(name, ts, cid, args)                                                                  \
	"{'ph': 'X', 'cat': 'cuda_runtime', 'name': '" name "', 'pid': 7, 'tid': 8, 'ts': " ts     \
	", 'dur': 1.5, 'args': {'correlation': " cid args "}}"
#define WORK(cat, name, ts, cid, args)                                                             \
	"{'ph': 'X', 'cat': '" cat "', 'name': '" name "', 'pid': 0, 'tid': 3, 'ts': " ts          \
	", 'dur': 2, 'args': {'device': 0, 'context': 1, 'stream': 3, 'correlation': " cid args    \
	"}}"
/* A row of a scope with its External id. */
#define SCOPE(cat, name, ts, dur, id)                                                              \
	"{'ph': 'X', 'cat': '" cat "', 'name': '" name "', 'pid': 7, 'tid': 8, 'ts': " ts          \
	", 'dur': " dur ", 'args': {'External id': " id "}}"

#endif
