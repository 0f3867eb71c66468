/* The word that a traced process sends to `dagtap record` when it uses a GPU and cannot be
 * recorded.
 *
 * It is a datagram to a socket in the abstract namespace, which a process reaches whatever user,
 * root folder or working directory it has by now, and for which it keeps no descriptor before. The
 * secret tells it from what other users of the machine may send there; the kernel says who the
 * sender is. Threading: none of it is shared. Cost: nothing until a process cannot be recorded. */
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
	LOSS_NO_SPOOL = 1, /* it cannot be made: CODE says why */
	LOSS_OTHER_FOLDER, /* DAGTAP_SPOOL was another folder, TEXT, when the process began */
	LOSS_UNSET,	   /* DAGTAP_SPOOL was not set when the process began */
	LOSS_REASON_COUNT
};

struct loss_word {
	char secret[LOSS_WORD_ID_CHARS];
	uint32_t reason;		 /* enum loss_reason */
	int32_t code;			 /* errno */
	char name[LOSS_WORD_NAME_BYTES]; /* of the program; not terminated when full */
	char text[LOSS_WORD_TEXT_BYTES]; /* as well */
};

/* What the variable says: "NAME.SECRET:FOLDER". */
struct loss_address {
	char name[LOSS_WORD_ID_CHARS];
	char secret[LOSS_WORD_ID_CHARS];
	const char *folder; /* the spools'; in the variable's text */
};

/* False: the text is no address. */
bool loss_address_parse(const char *text, struct loss_address *ret_address);

/* The socket's address; returns its length. NAME: LOSS_WORD_ID_CHARS characters. */
socklen_t loss_address_socket(const char *name, struct sockaddr_un *ret_address);

/* Sends it, with the address's secret. Does not wait: -EAGAIN when the receiver has not come to
 * read so many; another negative errno when there is none. */
int loss_word_send(const struct loss_address *address, struct loss_word *word);

#endif
