/* The epoch of all signals (signal_epoch.h). */
#include "softgpu/signal_epoch.h"

_Atomic uint32_t signal_epoch_word;
_Atomic uint32_t signal_epoch_sleepers;

void signal_epoch_wait(uint32_t seen, uint64_t until_ns)
{
	atomic_fetch_add(&signal_epoch_sleepers, 1);
	if (atomic_load(&signal_epoch_word) == seen)
		futex_wait(&signal_epoch_word, seen, until_ns);
	atomic_fetch_sub(&signal_epoch_sleepers, 1);
}
