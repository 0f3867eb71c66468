/* Receives the messages of processes that use a GPU and cannot be recorded (record/loss_word.h,
 * which the capture side sends). Threading: a thread of its own receives them, with all signals
 * blocked; the main thread calls the functions below. */
#ifndef DAGTAP_CLI_LOSS_BOX_H
#define DAGTAP_CLI_LOSS_BOX_H

#include <stdint.h>
#include <stdio.h>

#include "cli/deliveries.h"

struct loss_box;

/* Opens the socket, starts the thread, and puts the address into the environment variable
 * DAGTAP_RECORDER for programs that are started later. FOLDER is the folder of spools. Recordings
 * that processes of this user want in files of their own are handed to DELIVERIES, which is
 * borrowed; NULL: they are not made. Returns 0, or a negative errno: then no messages are received.
 * The caller ends the box with loss_box_shut and loss_box_close. */
int loss_box_open(const char *folder, struct deliveries *deliveries, struct loss_box **ret_box);

/* Receives everything that was sent until now, and ends the thread. BOX may be NULL. */
void loss_box_shut(struct loss_box *box);

/* Writes one line to OUT for each process that sent a message. Returns how many. Call it after
 * loss_box_shut. */
uint32_t loss_box_tell(const struct loss_box *box, FILE *out);

/* Frees the box. BOX may be NULL. */
void loss_box_close(struct loss_box *box);

#endif
