/* The process and the user that sent a datagram, as the kernel gives them: the receivers of the
 * messages of dagtap and of dynolog check them. Threading: a function of its arguments. */
#ifndef DAGTAP_RECORD_DATAGRAM_SENDER_H
#define DAGTAP_RECORD_DATAGRAM_SENDER_H

#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

/* Gets the sender of MESSAGE, which was received with SO_PASSCRED and room for a struct ucred as
 * its control data. Returns false, and leaves RET_SENDER, if the kernel did not give one. */
static inline bool datagram_sender(struct msghdr *message, struct ucred *ret_sender)
{
	const struct cmsghdr *part = CMSG_FIRSTHDR(message);

	if (!part || part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_CREDENTIALS ||
	    part->cmsg_len < CMSG_LEN(sizeof(*ret_sender)))
		return false;
	memcpy(ret_sender, CMSG_DATA(part), sizeof(*ret_sender));
	return true;
}

#endif
