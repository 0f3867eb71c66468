/* The doors through which another process starts and stops the recording of this one: the socket of
 * `dagtap control` (control_door.h) and dynolog's protocol (dynolog_door.h). docs/control.md
 * describes both.
 *
 * Open doors are served by one thread, dagtap-doors, which is blocked in poll. It has all signals
 * blocked, and its descriptors are closed by exec. The doors open at the process's first use of a
 * GPU. A fork child has none until it uses a GPU itself; then it opens its own.
 *
 * Threading: doors_configure by the thread that loads the library; doors_open by the holder of the
 * switch's lock; doors_forget_parent in the child; doors_close by the thread that ends the
 * process. */
#ifndef DAGTAP_CAPTURE_DOORS_H
#define DAGTAP_CAPTURE_DOORS_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#define DOORS_NEVER UINT64_MAX

/* A door; a constant table. All but is_wanted are called only if that returned true. */
struct door {
	const char *name;	 /* static */
	bool (*is_wanted)(void); /* reads the environment when the library is loaded */
	/* Opens it; once in a process. Returns 0 or a negative errno. */
	int (*open)(void);
	/* On the thread: writes what it waits for into ENDS, of which there are DOOR_ENDS_MOST.
	 * Returns how many. */
	uint32_t (*list)(struct pollfd *ends);
	/* On the thread: the time of clock_now_ns at which serve is called without an event;
	 * DOORS_NEVER: none. */
	uint64_t (*due_ns)(void);
	/* On the thread: ENDS as listed, with what happened. */
	void (*serve)(const struct pollfd *ends, uint32_t count);
	void (*forget_parent)(void); /* in a fork child: closes what it inherited */
	void (*close)(void);	     /* the process ends: removes what it leaves behind */
};

#define DOOR_ENDS_MOST 9

/* Reads which doors are wanted. Returns whether any is. */
bool doors_configure(void);

/* Opens the doors that are wanted, and starts their thread. The second call does nothing. */
void doors_open(void);

/* In a fork child: it has no door, and no descriptor of its parent's doors. */
void doors_forget_parent(void);

/* The process ends: removes what the doors leave behind. The thread goes on until the end. */
void doors_close(void);

#endif
