/* Makes the readers and analyses use one thread: what a target covers must follow from its inputs
 * alone, because libFuzzer chooses the next ones by it. */
#include "base/workers.h"

__attribute__((constructor)) static void use_one_thread(void)
{
	workers_limit(1);
}
