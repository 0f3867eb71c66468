/* dynolog's daemon for the time of one request: hands a text to a process that asks for it, as
 * PyTorch's Kineto does with KINETO_USE_DAEMON=1, and `dagtap record --dynolog`. Threading: the
 * main thread. */
#ifndef DAGTAP_CLI_DYNOLOG_DAEMON_H
#define DAGTAP_CLI_DYNOLOG_DAEMON_H

#include <sys/types.h>

#include "base/error_text.h"

/* Takes the daemon's name and gives TEXT to process PID, which asks once a second, up to
 * TIMER_CONTROL_ANSWER. Others that ask meanwhile are answered that there is nothing. Only
 * datagrams of the own user count, and for root those of any. Returns 0, or a negative errno with
 * ERROR filled: there is a daemon already, or the process does not ask. */
int dynolog_daemon_give(pid_t pid, const char *text, struct dagtap_error *error);

#endif
