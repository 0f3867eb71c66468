/* Descriptors that are identified by device and inode; see own_fd.h. */
#include "capture/own_fd.h"

#include <sys/stat.h>
#include <unistd.h>

struct own_fd own_fd_take(int fd)
{
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return OWN_FD_NONE;
	return (struct own_fd){.fd = fd, .device = status.st_dev, .inode = status.st_ino};
}

bool own_fd_is_still(const struct own_fd *own)
{
	struct stat status;

	return own->fd >= 0 && fstat(own->fd, &status) == 0 && status.st_dev == own->device &&
	       status.st_ino == own->inode;
}

void own_fd_close(struct own_fd *own)
{
	if (own_fd_is_still(own))
		close(own->fd);
	*own = OWN_FD_NONE;
}
