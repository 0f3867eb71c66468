/* The messages by which a traced process tells `dagtap record` that one of its recordings is wanted
 * in a file of its own, as soon as it has ended: dynolog's users expect it. Datagrams to the socket
 * of record/loss_word.h. The capture side sends them; cli/deliveries.h carries them out.
 *
 * BEGUN names the recording and the file, ENDED the recording again. Of a process that is killed
 * in between, the file is written when the program has ended. The receiver takes messages of its
 * own user only, by the sender's credentials: the secret is in the environment of every process
 * that the program starts, also as another user. Threading: nothing is shared. */
#ifndef DAGTAP_RECORD_DELIVERY_WORD_H
#define DAGTAP_RECORD_DELIVERY_WORD_H

#include <limits.h>
#include <stdint.h>

#include "record/loss_word.h"

#define DELIVERY_SPOOL_BYTES 64

enum delivery_kind { DELIVERY_BEGUN = 1, DELIVERY_ENDED, DELIVERY_KIND_COUNT };

/* The datagram; its size tells it from struct loss_word. */
struct delivery_word {
	char secret[LOSS_WORD_ID_CHARS];
	uint32_t kind;			  /* enum delivery_kind */
	uint32_t reserved;		  /* 0 */
	char spool[DELIVERY_SPOOL_BYTES]; /* name of the spool in its folder, terminated */
	char output[PATH_MAX];		  /* absolute path, terminated; "" for ENDED */
};

/* Sends WORD after storing the address's secret in it. Does not wait. Returns 0; -EAGAIN when the
 * receiver's queue is full; another negative errno when there is no receiver. */
int delivery_word_send(const struct loss_address *address, struct delivery_word *word);

#endif
