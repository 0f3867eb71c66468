/* A process with the door of dagtap control, and a client of it. For the tests of
 * capture/doors.h. */
#ifndef DAGTAP_TESTS_CAPTURE_DOOR_CLIENT_H
#define DAGTAP_TESTS_CAPTURE_DOOR_CLIENT_H

#include <sys/types.h>

#include "record/control_message.h"

/* fixture_setup, with few ready chunks. */
int door_setup(void **state);

/* In a child: arms the switch, with the door and capture ranges named "step"; nothing is recorded
 * yet. */
void door_arm(void);

/* Connects to the door of process PID. Returns a descriptor that the caller closes, or -1. */
int door_connect(pid_t pid);

/* Sends VERB to the door of process PID, which must answer, and returns the answer. */
struct control_answer door_ask(pid_t pid, enum control_verb verb);

#endif
