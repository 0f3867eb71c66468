/* Control of the device by tests, as far as it wakes the device's threads or changes the clock:
 * steps and release of the taking of work, and holds of the clock. device_hold.c has the holds of
 * the taking of work. */
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>

#include <dagtap/softgpu.h>

#include "base/clock.h"
#include "softgpu/config.h"
#include "softgpu/device_hold.h"
#include "softgpu/queue.h"
#include "softgpu/schedule.h"

/* ---- the taking of work ---- */

static void wake_takers(void)
{
	queue_wake_all();
	schedule_bump_epoch();
}

int softgpu_take_step(uint32_t count)
{
	int err = hold_add_steps(count);

	if (!err)
		wake_takers();
	return err;
}

void softgpu_take_release(void)
{
	if (schedule_is_on())
		schedule_pause();
	hold_end();
	wake_takers();
	if (schedule_is_on())
		schedule_resume();
}

/* ---- the schedule ---- */

void softgpu_program_waits(void)
{
	if (schedule_is_on())
		schedule_host_polls();
}

/* ---- the clock ---- */

/* The page of the clock when DAGTAP_CLOCK names no file. */
static struct clock_page own_page;

/* Returns the page of the clock; makes own_page the page when there is none. */
static struct clock_page *page(void)
{
	struct clock_page *none = NULL;

	atomic_compare_exchange_strong(&clock_page, &none, &own_page);
	return atomic_load(&clock_page);
}

void softgpu_clock_hold(void)
{
	config_get(); /* maps the page of DAGTAP_CLOCK first */
	clock_hold(page());
}

int softgpu_clock_step(uint64_t ns)
{
	if (!clock_is_held())
		return -EPERM;
	clock_step(page(), ns);
	return 0;
}

void softgpu_clock_release(void)
{
	if (clock_is_held())
		clock_release(page());
}
