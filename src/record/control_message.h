/* The messages between `dagtap control` and the injected library of a recorded process, and the
 * name of the socket that carries them. docs/control.md describes them.
 *
 * The process listens at a SOCK_SEQPACKET socket in its folder of spools, named PID.control
 * (capture/control_door.h). A client connects, sends one request and receives one answer, each in
 * one packet of a fixed size; then the process closes the connection. Both ends check who the
 * other one is (SO_PEERCRED). Threading: nothing is shared; any thread. */
#ifndef DAGTAP_RECORD_CONTROL_MESSAGE_H
#define DAGTAP_RECORD_CONTROL_MESSAGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#define CONTROL_MAGIC	   0x4c544344u /* "DCTL" */
#define CONTROL_VERSION	   1	       /* an end refuses any other */
#define CONTROL_SUFFIX	   ".control"
#define CONTROL_NAME_BYTES 64

enum control_verb { CONTROL_STATUS = 1, CONTROL_START, CONTROL_STOP, CONTROL_VERB_COUNT };

struct control_request {
	uint32_t magic;
	uint16_t version;
	uint16_t verb; /* enum control_verb */
};

enum control_result {
	CONTROL_OK,	   /* START: the recording is on; STOP: it is off */
	CONTROL_NOT_DONE,  /* it is not: the duration is over, no spool can be made ... */
	CONTROL_BUSY,	   /* another thread starts or stops the recording, and does not end */
	CONTROL_MALFORMED, /* the request has another size, magic or version, or no known verb */
	CONTROL_RESULT_COUNT
};

enum control_state {
	CONTROL_DORMANT = 1,
	CONTROL_RECORDING,
	CONTROL_OVER, /* nothing will be recorded any more */
	CONTROL_STATE_COUNT
};

/* The state after the request was carried out. Counts are those of the recording that is on, or of
 * the last one. */
struct control_answer {
	uint32_t magic;
	uint16_t version;
	uint16_t result;      /* enum control_result */
	uint32_t pid;	      /* as the process itself knows it */
	uint32_t state;	      /* enum control_state */
	uint64_t since_ns;    /* CLOCK_REALTIME from which on the state has been this one */
	uint64_t recordings;  /* that began so far */
	uint64_t instances;   /* of the scope of --capture-range, that began so far */
	uint64_t selected;    /* of these, selected by --skip and --count */
	uint64_t records;     /* that are in the spool */
	uint64_t lost;	      /* records that were dropped, but for those of a ring */
	uint64_t overwritten; /* records that the ring has dropped */
	char spool[CONTROL_NAME_BYTES]; /* name of the spool in the folder, terminated; "": none */
};

/* Fill magic and version. */
void control_request_init(struct control_request *request, enum control_verb verb);
void control_answer_init(struct control_answer *answer, enum control_result result);

/* Check what was received: SIZE bytes. Return 0 and copy the message; or -EINVAL, and then copy
 * nothing. */
int control_request_read(const void *bytes, size_t size, struct control_request *ret_request);
int control_answer_read(const void *bytes, size_t size, struct control_answer *ret_answer);

/* Fills the address of the socket of process PID in the folder with the descriptor FOLDER_FD: of
 * this very folder, whatever its path is now, and also if the path is too long for a socket's
 * address. Needs /proc. */
void control_address(int folder_fd, pid_t pid, struct sockaddr_un *ret_address);

#endif
