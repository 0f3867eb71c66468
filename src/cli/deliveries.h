/* Writes recordings into files of their own while the program runs, as traced processes ask for
 * them (record/delivery_word.h): Kineto's JSON, for dynolog's users. A recording is written as soon
 * as it has ended; its spool stays for OUT.
 *
 * Threading: a thread of its own writes, with all signals blocked, one file after the other.
 * deliveries_take is called by the thread that receives (loss_box.h), the rest by the main
 * thread. */
#ifndef DAGTAP_CLI_DELIVERIES_H
#define DAGTAP_CLI_DELIVERIES_H

#include "record/delivery_word.h"

struct deliveries;

/* FOLDER is the folder of spools; it is copied. Starts the thread. Returns 0 or a negative
 * errno. */
int deliveries_open(const char *folder, struct deliveries **ret_deliveries);

/* Takes in a message whose secret is right. One that makes no sense is dropped. */
void deliveries_take(struct deliveries *deliveries, const struct delivery_word *word);

/* The program has ended: writes what is not written yet, also recordings whose end nobody told,
 * and ends the thread. DELIVERIES may be NULL. */
void deliveries_finish(struct deliveries *deliveries);

/* Frees it after deliveries_finish. DELIVERIES may be NULL. */
void deliveries_close(struct deliveries *deliveries);

#endif
