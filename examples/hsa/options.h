/* raw-driver's options: one table in options.c parses them and prints the help. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum completion {
	COMPLETION_NONE, /* no packet of the driver's has a signal */
	COMPLETION_LAST, /* the last packet of each batch has one */
	COMPLETION_EACH, /* every packet has one, and a batch is waited for before the next */
};

struct options {
	uint32_t batch; /* packets for one reservation and one doorbell */
	uint32_t ring;	/* slots of a queue */
	uint32_t queues;
	uint32_t producers; /* threads; producer p writes to queue p % queues */
	uint32_t packets;   /* dispatches in all */
	enum completion completion;
	bool barrier; /* set the barrier bit of every dispatch */
	bool cross;   /* each batch begins with a barrier-AND on other producers' latest batches */
	bool profile; /* enable profiling on the queues and check the completed signals' times */
	bool race;    /* the producers also count in a plain word: a race for a checker to find */
};

/* Exits with 2 on wrong usage, with 0 after --help. */
void options_parse(int argc, char **argv, struct options *ret_options);

#endif
