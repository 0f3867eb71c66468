/* The door of `dagtap control`: a Unix socket in the folder of spools, which belongs to the user
 * and which nobody else can enter. record/control_message.h has the messages.
 *
 * Who may use it: processes of the same user, and root (SO_PEERCRED). A client that connects and
 * sends nothing costs one descriptor; of more than CONTROL_CLIENTS the oldest is closed. Threading:
 * doors.h. */
#ifndef DAGTAP_CAPTURE_CONTROL_DOOR_H
#define DAGTAP_CAPTURE_CONTROL_DOOR_H

#include "capture/doors.h"

#define CONTROL_CLIENTS (DOOR_ENDS_MOST - 1)

extern const struct door control_door;

#endif
