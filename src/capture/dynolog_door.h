/* The door of dynolog: asks the daemon of this machine, once in TIMER_DYNOLOG_POLL, whether a trace
 * of this process is wanted, and makes it. The protocol is Kineto's (docs/control.md): datagrams
 * between Unix sockets.
 *
 * Only datagrams of root and of this user count (SCM_CREDENTIALS): anybody may take the daemon's
 * name. A request is not followed while a recording is on. When the recording has ended, the
 * process tells `dagtap record` to write the file that the request names
 * (record/delivery_word.h). Threading: doors.h. */
#ifndef DAGTAP_CAPTURE_DYNOLOG_DOOR_H
#define DAGTAP_CAPTURE_DYNOLOG_DOOR_H

#include "capture/doors.h"

extern const struct door dynolog_door;

#endif
