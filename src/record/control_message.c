/* Makes and checks the messages of dagtap control. */
#include "record/control_message.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(struct control_request) == 8, "layout of a request");
_Static_assert(sizeof(struct control_answer) == 136, "layout of an answer");

void control_request_init(struct control_request *request, enum control_verb verb)
{
	*request = (struct control_request){
		.magic = CONTROL_MAGIC, .version = CONTROL_VERSION, .verb = (uint16_t)verb};
}

void control_answer_init(struct control_answer *answer, enum control_result result)
{
	memset(answer, 0, sizeof(*answer));
	answer->magic = CONTROL_MAGIC;
	answer->version = CONTROL_VERSION;
	answer->result = (uint16_t)result;
	answer->state = CONTROL_DORMANT;
}

int control_request_read(const void *bytes, size_t size, struct control_request *ret_request)
{
	struct control_request request;

	if (size != sizeof(request))
		return -EINVAL;
	memcpy(&request, bytes, sizeof(request));
	if (request.magic != CONTROL_MAGIC || request.version != CONTROL_VERSION || !request.verb ||
	    request.verb >= CONTROL_VERB_COUNT)
		return -EINVAL;
	*ret_request = request;
	return 0;
}

int control_answer_read(const void *bytes, size_t size, struct control_answer *ret_answer)
{
	struct control_answer answer;

	if (size != sizeof(answer))
		return -EINVAL;
	memcpy(&answer, bytes, sizeof(answer));
	/* The name is used in a path: it must be a name. */
	if (answer.magic != CONTROL_MAGIC || answer.version != CONTROL_VERSION ||
	    answer.result >= CONTROL_RESULT_COUNT || !answer.state ||
	    answer.state >= CONTROL_STATE_COUNT ||
	    !memchr(answer.spool, '\0', sizeof(answer.spool)) || strchr(answer.spool, '/'))
		return -EINVAL;
	*ret_answer = answer;
	return 0;
}

void control_address(int folder_fd, pid_t pid, struct sockaddr_un *ret_address)
{
	*ret_address = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(ret_address->sun_path, sizeof(ret_address->sun_path),
		 "/proc/self/fd/%d/%ld" CONTROL_SUFFIX, folder_fd, (long)pid);
}
