/* What other threads see of the monitor; see the header. */
#include "capture/hsa/monitor_state.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/capture_session.h"

_Atomic uint32_t hsa_monitor_parked;

static _Atomic uint32_t looks;	     /* that have ended */
static _Atomic uint32_t monitor_tid; /* 0: it never ran */

static void futex(_Atomic uint32_t *word, int operation, uint32_t value)
{
	syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

void hsa_monitor_unpark(void)
{
	if (atomic_exchange(&hsa_monitor_parked, 0))
		futex(&hsa_monitor_parked, FUTEX_WAKE, 1);
}

void hsa_monitor_sleep(void)
{
	while (atomic_load(&hsa_monitor_parked))
		futex(&hsa_monitor_parked, FUTEX_WAIT, 1);
}

uint32_t hsa_monitor_looks(void)
{
	return atomic_load_explicit(&looks, memory_order_relaxed);
}

void hsa_monitor_look_ends(void)
{
	atomic_fetch_add_explicit(&looks, 1, memory_order_relaxed);
}

bool hsa_monitor_is_mine(void)
{
	return atomic_load_explicit(&monitor_tid, memory_order_relaxed) == session_tid();
}

void hsa_monitor_set_tid(uint32_t tid)
{
	atomic_store_explicit(&monitor_tid, tid, memory_order_relaxed);
}
