/* The message that a traced process sends to `dagtap record` when it uses a GPU and cannot be
 * recorded. The capture side sends it; cli/loss_box.h receives it.
 *
 * The message is a datagram to a socket in the abstract namespace. A process can reach this
 * socket after it has changed its user, root folder or working directory, and needs no descriptor
 * for it before. The secret distinguishes the message from those of other users of the machine;
 * the kernel tells the receiver the sender's pid. Threading: nothing is shared; any thread. Cost:
 * nothing until a process cannot be recorded. */
#ifndef DAGTAP_RECORD_LOSS_WORD_H
#define DAGTAP_RECORD_LOSS_WORD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#define LOSS_WORD_VARIABLE    "DAGTAP_RECORDER"
#define LOSS_WORD_ID_CHARS    16
#define LOSS_WORD_NAME_BYTES  16
#define LOSS_WORD_TEXT_BYTES  256
#define LOSS_WORD_SOCKET_NAME "dagtap."

enum loss_reason {
	LOSS_NO_SPOOL = 1, /* the spool cannot be made; code has the errno */
	LOSS_OTHER_FOLDER, /* at the process's start DAGTAP_SPOOL was another folder, in text */
	LOSS_UNSET,	   /* at the process's start DAGTAP_SPOOL was not set */
	LOSS_REASON_COUNT
};

/* The datagram. */
struct loss_word {
	char secret[LOSS_WORD_ID_CHARS];
	uint32_t reason;		 /* enum loss_reason */
	int32_t code;			 /* errno */
	char name[LOSS_WORD_NAME_BYTES]; /* of the program; not terminated when full */
	char text[LOSS_WORD_TEXT_BYTES]; /* not terminated when full */
};

/* The contents of the environment variable LOSS_WORD_VARIABLE: "NAME.SECRET:FOLDER". */
struct loss_address {
	char name[LOSS_WORD_ID_CHARS];	 /* hexadecimal digits, not terminated */
	char secret[LOSS_WORD_ID_CHARS]; /* as name */
	const char *folder;		 /* folder of the spools; points into the parsed text */
};

/* Parses TEXT, the variable's value. Returns false if it is no address. */
bool loss_address_parse(const char *text, struct loss_address *ret_address);

/* Fills the address of the socket with this NAME, of LOSS_WORD_ID_CHARS characters. Returns the
 * length of the address, for bind and sendto. */
socklen_t loss_address_socket(const char *name, struct sockaddr_un *ret_address);

/* Sends WORD after storing the address's secret in it. Does not wait. Returns 0; -EAGAIN when the
 * receiver's queue is full; another negative errno when there is no receiver. */
int loss_word_send(const struct loss_address *address, struct loss_word *word);

#endif
