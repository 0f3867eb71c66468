/* A log for people who debug the tool itself (DAGTAP_LOG); silent unless asked for.
 * Not for the hot path: it formats and makes a system call. */
#ifndef DAGTAP_CAPTURE_LOG_H
#define DAGTAP_CAPTURE_LOG_H

void log_open(void); /* by session_start; reads DAGTAP_LOG */
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
