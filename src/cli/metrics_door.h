/* Metrics for Prometheus: a socket on which one thread answers GET /metrics over HTTP/1.1. It
 * listens on a Unix socket, which only its user may connect to, or on 127.0.0.1, where everybody on
 * the machine may read.
 *
 * Threading: metrics_door_open and metrics_door_close on one thread. The door's thread blocks all
 * signals, and serves one client at a time, for TIMER_METRICS_CLIENT at most. */
#ifndef DAGTAP_CLI_METRICS_DOOR_H
#define DAGTAP_CLI_METRICS_DOOR_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error_text.h"

struct metrics_door;

/* Writes the metrics to OUT. Called on the door's thread. Returns 0 or a negative errno. */
typedef int metrics_write(void *context, FILE *out);

/* Whether ADDRESS has a form that metrics_door_open takes. */
bool metrics_address_is_sound(const char *address);

/* Listens on ADDRESS: "unix:PATH" or "127.0.0.1:PORT". PATH must not exist, except as a socket of
 * this user at which nobody listens, which is replaced; its folder is local, and is locked
 * meanwhile. WRITE writes the answers until the door is closed. Returns 0, or with ERROR filled
 * -EINVAL (ADDRESS has another form), -ENOMEM or the errno of the system. */
int metrics_door_open(const char *address, metrics_write *write, void *context,
		      struct metrics_door **ret_door, struct dagtap_error *error);

/* The address, with the port that was chosen if it was 0. */
const char *metrics_door_address(const struct metrics_door *door);

/* Ends the thread, removes the Unix socket if it is still the own one, and frees DOOR, which
 * may be NULL. */
void metrics_door_close(struct metrics_door *door);

#endif
