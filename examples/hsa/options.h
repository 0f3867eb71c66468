/* raw-driver's options; one table in options.c parses them and prints the help. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum completion {
	COMPLETION_NONE, /* no packet has a completion signal */
	COMPLETION_LAST, /* the last packet of each batch has one */
	COMPLETION_EACH, /* every packet has one, and a batch is waited for before the next */
};

struct options {
	uint32_t batch; /* packets written for one reservation and one doorbell */
	uint32_t ring;	/* packet slots of a queue */
	uint32_t queues;
	uint32_t producers; /* threads; producer p writes to queue p % queues */
	uint32_t packets;   /* dispatches of all producers together */
	enum completion completion;
	uint32_t scratch; /* private bytes of a work-item; 0: what the kernel says */
	bool barrier;	  /* every dispatch has the barrier bit */
	/* each batch begins with a barrier-AND on the other producers' latest batches */
	bool cross;
	bool profile; /* queues have profiling on; the times of completed signals are checked */
	/* the producers also count in a plain word, a data race for a checker to find */
	bool race;
};

/* Parses the arguments. Exits with 2 on wrong usage, with 0 after --help. */
void options_parse(int argc, char **argv, struct options *ret_options);

#endif
