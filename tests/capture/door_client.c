/* A client of the door of dagtap control; see door_client.h. */
#include "door_client.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "capture/capture_session.h"
#include "capture/capture_switch.h"
#include "in_child.h"

int door_setup(void **state)
{
	setenv("DAGTAP_READY", "4M", 1);
	return fixture_setup(state);
}

void door_arm(void)
{
	setenv("DAGTAP_WAIT", "1", 1);
	setenv("DAGTAP_CAPTURE_RANGE", "step", 1);
	setenv("DAGTAP_CONTROL", "1", 1);
	session_arm();
	switch_configure();
	expect(!session_start());
}

int door_connect(pid_t pid)
{
	const char *folder = getenv("DAGTAP_SPOOL");
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int folder_fd = open(folder, O_PATH | O_CLOEXEC);
	struct sockaddr_un address;

	control_address(folder_fd, pid, &address);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		close(fd);
		fd = -1;
	}
	close(folder_fd);
	return fd;
}

struct control_answer door_ask(pid_t pid, enum control_verb verb)
{
	char bytes[sizeof(struct control_answer) + 1];
	struct control_request request;
	struct control_answer answer;
	int fd = door_connect(pid);
	ssize_t got;

	expect(fd >= 0);
	control_request_init(&request, verb);
	expect(send(fd, &request, sizeof(request), MSG_NOSIGNAL) == sizeof(request));
	while ((got = recv(fd, bytes, sizeof(bytes), MSG_TRUNC)) < 0 && errno == EINTR)
		;
	expect(got > 0 && !control_answer_read(bytes, (size_t)got, &answer));
	close(fd);
	return answer;
}
