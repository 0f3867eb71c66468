/* A log for debugging dagtap itself; it writes nothing unless DAGTAP_LOG names a file. Any
 * thread; not for the hot path, since each line is formatted and opens, writes and closes the
 * file. */
#ifndef DAGTAP_CAPTURE_LOG_H
#define DAGTAP_CAPTURE_LOG_H

/* Called when a session starts. Reads DAGTAP_LOG and creates the file; does nothing when the log
 * is open already. Errors are ignored. */
void log_open(void);
/* Appends one line with the time in ns and the process id. A line is cut at 510 characters. A
 * log that cannot be written is ignored. */
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
