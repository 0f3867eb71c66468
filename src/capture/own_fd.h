/* A descriptor of dagtap's in the traced program. Some programs close or replace descriptors that
 * they have not opened; then the number belongs to the program, and dagtap must not touch it.
 * Threading: the caller's. */
#ifndef DAGTAP_CAPTURE_OWN_FD_H
#define DAGTAP_CAPTURE_OWN_FD_H

#include <stdbool.h>
#include <sys/types.h>

struct own_fd {
	int fd; /* -1: none */
	dev_t device;
	ino_t inode;
};

#define OWN_FD_NONE                                                                                \
	(struct own_fd)                                                                            \
	{                                                                                          \
		.fd = -1                                                                           \
	}

/* Takes FD over, which may be -1. */
struct own_fd own_fd_take(int fd);

/* Whether the descriptor still is what was taken over. */
bool own_fd_is_still(const struct own_fd *own);

/* Closes it, unless the program has closed or replaced it, and forgets it. */
void own_fd_close(struct own_fd *own);

#endif
