/* What a program knows of its own waits, for who wants to compare (--print-waits): which record of an event
 * each is for. Records and waits are counted from 1. One thread. */
#ifndef WAITS_H
#define WAITS_H

#include "example.h"

/* An event as it was recorded last; number 0: not yet. */
struct waits_record {
	unsigned number;
	hipStream_t stream;
	bool is_replayed; /* by a node of a graph */
	unsigned node;	  /* its index in the graph */
	unsigned replay;
};

/* Takes the option out of the arguments if it is the last one; without it nothing is printed. */
void waits_option(int *argc, char **argv);

/* After hipEventRecord. */
void waits_recorded(struct waits_record *record, hipStream_t stream);

/* After hipGraphLaunch of an exec that was launched REPLAY times before, for each node that
 * records an event, in the order of hipGraphGetNodes. */
void waits_replayed(struct waits_record *record, hipStream_t stream, unsigned node,
		    unsigned replay);

/* After the wait: of a stream or of the host, for an event, for all of a stream, for everything. */
void waits_stream(hipStream_t stream, const struct waits_record *record);
void waits_host(const struct waits_record *record);
void waits_host_for_stream(hipStream_t stream);
void waits_host_for_all(void);

#endif
