/* The socket, the thread that reads it, and the lines about what it received. */
#include "cli/loss_box.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/table.h"
#include "cli/cli_thread.h"
#include "cli/human.h"
#include "record/datagram_sender.h"
#include "record/loss_word.h"

struct loss {
	pid_t pid;
	uid_t uid;
	struct loss_word word;
};

struct loss_box {
	struct deliveries *deliveries; /* borrowed; NULL: none are made */
	int fd;			       /* the socket */
	int shut_fd;		       /* an eventfd: readable when the thread shall end */
	char secret[LOSS_WORD_ID_CHARS];
	bool has_thread;
	pthread_t thread;
	struct loss
		*losses; /* written by the thread; others may read it when the thread has ended */
	uint32_t count;
};

/* Whether the process has sent a message already. A process may try to record several times. */
static bool is_known(const struct loss_box *box, pid_t pid)
{
	for (uint32_t i = 0; i < box->count; i++)
		if (box->losses[i].pid == pid)
			return true;
	return false;
}

/* Keeps the first message of each process. */
static void keep(struct loss_box *box, const struct loss_word *word, const struct ucred *sender)
{
	struct loss *row;

	if (!word->reason || word->reason >= LOSS_REASON_COUNT || is_known(box, sender->pid))
		return;
	row = table_add((void **)&box->losses, &box->count, sizeof(*row));
	if (row)
		*row = (struct loss){sender->pid, sender->uid, *word};
}

/* Receives one message. Returns false when there is none left. */
static bool take_one(struct loss_box *box)
{
	union {
		struct loss_word loss;
		struct delivery_word delivery;
		char secret[LOSS_WORD_ID_CHARS]; /* the first member of both */
	} word;
	struct iovec piece = {&word, sizeof(word)};
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct ucred))];
	struct msghdr message = {
		.msg_iov = &piece,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct ucred sender;
	ssize_t got = recvmsg(box->fd, &message, MSG_DONTWAIT);

	if (got < 0)
		return errno == EINTR;
	if (message.msg_flags & MSG_TRUNC || got < (ssize_t)sizeof(word.secret) ||
	    memcmp(word.secret, box->secret, sizeof(word.secret)) != 0 ||
	    !datagram_sender(&message, &sender))
		return true;
	if (got == (ssize_t)sizeof(word.loss))
		keep(box, &word.loss, &sender);
	else if (got == (ssize_t)sizeof(word.delivery) && box->deliveries &&
		 sender.uid == geteuid()) /* it makes us write files */
		deliveries_take(box->deliveries, &word.delivery);
	return true;
}

static void *take_all(void *context)
{
	struct loss_box *box = context;
	struct pollfd ends[] = {{.fd = box->fd, .events = POLLIN},
				{.fd = box->shut_fd, .events = POLLIN}};

	do {
		while (poll(ends, 2, -1) < 0 && errno == EINTR)
			;
		while (take_one(box))
			;
	} while (!ends[1].revents);
	return NULL;
}

static int start_thread(struct loss_box *box)
{
	int err = cli_thread_start(&box->thread, take_all, box);

	box->has_thread = !err;
	return err;
}

static int set_address(struct loss_box *box, const char *name, const char *folder)
{
	char *text;
	int err;

	if (asprintf(&text, "%.*s.%.*s:%s", LOSS_WORD_ID_CHARS, name, LOSS_WORD_ID_CHARS,
		     box->secret, folder) < 0)
		return -ENOMEM;
	err = setenv(LOSS_WORD_VARIABLE, text, 1) < 0 ? -errno : 0;
	free(text);
	return err;
}

static int open_ends(struct loss_box *box, const char *folder)
{
	char ids[2 * LOSS_WORD_ID_CHARS + 1];
	uint64_t drawn[2];
	struct sockaddr_un address;
	const int yes = 1;
	socklen_t bytes;

	if (getrandom(drawn, sizeof(drawn), 0) != (ssize_t)sizeof(drawn))
		return -EIO;
	snprintf(ids, sizeof(ids), "%016llx%016llx", (unsigned long long)drawn[0],
		 (unsigned long long)drawn[1]);
	memcpy(box->secret, ids + LOSS_WORD_ID_CHARS, sizeof(box->secret));
	bytes = loss_address_socket(ids, &address);
	box->shut_fd = eventfd(0, EFD_CLOEXEC);
	box->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (box->shut_fd < 0 || box->fd < 0 ||
	    setsockopt(box->fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) < 0 ||
	    bind(box->fd, (struct sockaddr *)&address, bytes) < 0)
		return -errno;
	return set_address(box, ids, folder);
}

int loss_box_open(const char *folder, struct deliveries *deliveries, struct loss_box **ret_box)
{
	struct loss_box *box = calloc(1, sizeof(*box));
	int result;

	/* If dagtap itself is recorded, this is the address of another recorder. */
	unsetenv(LOSS_WORD_VARIABLE);
	if (!box)
		return -ENOMEM;
	box->deliveries = deliveries;
	box->fd = box->shut_fd = -1;
	result = open_ends(box, folder);
	if (result == 0)
		result = start_thread(box);
	if (result < 0) {
		unsetenv(LOSS_WORD_VARIABLE);
		loss_box_close(box);
		return result;
	}
	*ret_box = box;
	return 0;
}

void loss_box_shut(struct loss_box *box)
{
	if (!box || !box->has_thread)
		return;
	eventfd_write(box->shut_fd, 1);
	pthread_join(box->thread, NULL);
	box->has_thread = false;
}

static void tell(const struct loss *loss, FILE *out)
{
	char name[LOSS_WORD_NAME_BYTES + 1] = "", text[LOSS_WORD_TEXT_BYTES + 1] = "";

	memcpy(name, loss->word.name, LOSS_WORD_NAME_BYTES);
	memcpy(text, loss->word.text, LOSS_WORD_TEXT_BYTES);
	human_make_plain(name);
	human_make_plain(text);
	fprintf(out, "process %d (%s) was not recorded: ", (int)loss->pid, name);
	switch ((enum loss_reason)loss->word.reason) {
	case LOSS_OTHER_FOLDER:
		fprintf(out, "it was started with DAGTAP_SPOOL=%s\n", text);
		break;
	case LOSS_UNSET:
		fputs("it was started without DAGTAP_SPOOL\n", out);
		break;
	default:
		fprintf(out, "as user %u it cannot make its spool: %s\n", (unsigned)loss->uid,
			strerror(loss->word.code));
	}
}

uint32_t loss_box_tell(const struct loss_box *box, FILE *out)
{
	if (!box)
		return 0;
	for (uint32_t i = 0; i < box->count; i++)
		tell(&box->losses[i], out);
	return box->count;
}

void loss_box_close(struct loss_box *box)
{
	if (!box)
		return;
	loss_box_shut(box);
	if (box->fd >= 0)
		close(box->fd);
	if (box->shut_fd >= 0)
		close(box->shut_fd);
	free(box->losses);
	free(box);
}
