/* Finds the door of a recorded process and asks it (record/control_message.h). Threading: the main
 * thread. */
#ifndef DAGTAP_CLI_CONTROL_LINK_H
#define DAGTAP_CLI_CONTROL_LINK_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error_text.h"
#include "record/control_message.h"

struct control_link {
	pid_t pid;
	pid_t inner_pid; /* as the process itself knows it: differs in a container */
	char *folder;	 /* of its spools, as this process reaches it; owned */
	int folder_fd;
};

/* Finds the folder of spools in the environment with which process PID was started. Returns 0 and
 * the link, which the caller closes; or a negative errno with ERROR filled: there is no such
 * process, it is another user's, or it is not recorded. */
int control_link_open(pid_t pid, struct control_link *ret_link, struct dagtap_error *error);

/* Sends VERB and waits for the answer, up to TIMER_CONTROL_ANSWER. Returns 0, or a negative errno
 * with ERROR filled: the process has no door, is stopped, or is none of dagtap's. */
int control_link_ask(const struct control_link *link, enum control_verb verb,
		     struct control_answer *ret_answer, struct dagtap_error *error);

/* Closes the folder, and frees its name. */
void control_link_close(struct control_link *link);

#endif
