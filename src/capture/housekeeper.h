/* The tool's one thread of its own (the monitor of capture/hsa beside it): keeps chunks ready,
 * seals full ones, and calls a tick every 250 ms, counted from one tick's begin to the next one's;
 * after a tick that took longer the next follows at once. It blocks all signals, so that the
 * program's handlers never run on it. */
#ifndef DAGTAP_CAPTURE_HOUSEKEEPER_H
#define DAGTAP_CAPTURE_HOUSEKEEPER_H

struct spooler;

/* 0 or a negative errno; -EBUSY: the last one does not end. */
int housekeeper_start(struct spooler *spooler, void (*tick)(void));
void housekeeper_stop(void); /* waits, for at most three seconds */
/* Afterwards, unless the process ends: waits until the thread has left the process. */
void housekeeper_see_off(void);
void housekeeper_forget(void); /* in a fork child, where the thread is not */

#endif
