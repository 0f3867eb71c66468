/* Parses DAGTAP_RECORDER and sends the datagrams. */
#include "record/loss_word.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "record/delivery_word.h"

/* Reads the id at *TEXT, which END must follow, and moves *TEXT behind END. */
static bool take_id(const char **text, char end, char *ret_id)
{
	for (int i = 0; i < LOSS_WORD_ID_CHARS; i++)
		if (!isxdigit((unsigned char)(*text)[i]))
			return false;
	if ((*text)[LOSS_WORD_ID_CHARS] != end)
		return false;
	memcpy(ret_id, *text, LOSS_WORD_ID_CHARS);
	*text += LOSS_WORD_ID_CHARS + 1;
	return true;
}

bool loss_address_parse(const char *text, struct loss_address *ret_address)
{
	struct loss_address address;

	if (!take_id(&text, '.', address.name) || !take_id(&text, ':', address.secret))
		return false;
	address.folder = text;
	*ret_address = address;
	return true;
}

socklen_t loss_address_socket(const char *name, struct sockaddr_un *ret_address)
{
	static const char prefix[] = LOSS_WORD_SOCKET_NAME;
	/* A zero byte before the name: the abstract namespace. */
	char *at = ret_address->sun_path + 1;

	*ret_address = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(at, prefix, sizeof(prefix) - 1);
	memcpy(at + sizeof(prefix) - 1, name, LOSS_WORD_ID_CHARS);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof(prefix) +
			   LOSS_WORD_ID_CHARS);
}

/* Sends BYTES of DATA to the recorder at ADDRESS. */
static int send_to(const struct loss_address *address, const void *data, size_t bytes)
{
	struct sockaddr_un to;
	socklen_t to_bytes = loss_address_socket(address->name, &to);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (sendto(fd, data, bytes, MSG_NOSIGNAL, (struct sockaddr *)&to, to_bytes) < 0)
		err = -errno;
	close(fd);
	return err;
}

int loss_word_send(const struct loss_address *address, struct loss_word *word)
{
	memcpy(word->secret, address->secret, sizeof(word->secret));
	return send_to(address, word, sizeof(*word));
}

int delivery_word_send(const struct loss_address *address, struct delivery_word *word)
{
	memcpy(word->secret, address->secret, sizeof(word->secret));
	return send_to(address, word, sizeof(*word));
}
