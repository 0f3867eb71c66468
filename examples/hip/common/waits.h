/*
 * With --print-waits, prints which record of an event each wait of the program is for, so that a
 * test can compare a trace with it. Records and waits are counted from 1. One thread.
 */
#ifndef WAITS_H
#define WAITS_H

#include "example.h"

/* The latest record of an event. Number 0: the event was not recorded yet. */
struct waits_record {
	unsigned number;
	hipStream_t stream;
	bool is_replayed; /* by an event record node of a graph */
	unsigned node;	  /* the node's index in the graph */
	unsigned replay;
};

/* Removes --print-waits from the arguments if it is the last one. Without it nothing is printed. */
void waits_option(int *argc, char **argv);

/* Call after hipEventRecord. */
void waits_recorded(struct waits_record *record, hipStream_t stream);

/*
 * Call after a hipGraphLaunch of an executable graph that was launched REPLAY times before, once
 * for each node that records an event, in the order of hipGraphGetNodes.
 */
void waits_replayed(struct waits_record *record, hipStream_t stream, unsigned node,
		    unsigned replay);

/*
 * Call after a wait: of a stream or of the host for an event, for all work of a stream, for all
 * work of the device.
 */
void waits_stream(hipStream_t stream, const struct waits_record *record);
void waits_host(const struct waits_record *record);
void waits_host_for_stream(hipStream_t stream);
void waits_host_for_all(void);

#endif
