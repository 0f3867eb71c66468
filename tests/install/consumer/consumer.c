/* Without a recording the calls do nothing and return that they did nothing. */
#include <dagtap/annotate.h>
#include <dagtap/session.h>

int main(void)
{
	int failed = dagtap_scope_push("consumer") != 0 || dagtap_session_is_recording();

	dagtap_scope_pop();
	return failed;
}
