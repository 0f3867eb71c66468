/* The tool's one thread of its own (the monitor of capture/hsa beside it): keeps chunks ready, seals full ones, and
 * calls a tick about every 250 ms. It blocks all signals, so that the program's handlers never
 * run on it. */
#ifndef DAGTAP_CAPTURE_HOUSEKEEPER_H
#define DAGTAP_CAPTURE_HOUSEKEEPER_H

struct spooler;

/* 0 or a negative errno; -EBUSY: the last one has not ended yet. */
int housekeeper_start(struct spooler *spooler, void (*tick)(void));
void housekeeper_stop(void);   /* waits, for at most half a second */
void housekeeper_forget(void); /* in a fork child, where the thread is not */

#endif
