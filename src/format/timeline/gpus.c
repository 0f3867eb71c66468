/* Decides which agents of different processes are the same GPU. */
#include "format/timeline/gpus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The uuid that the HSA runtime reports for a card without one. */
#define UUID_UNKNOWN "GPU-XX"

/* Compares bus location and driver id, each only if it is known of both agents. */
static bool is_same_place(const struct trace_agent *a, const struct trace_agent *b)
{
	if (a->has_location && b->has_location &&
	    (a->pci_domain != b->pci_domain || a->pci_location != b->pci_location))
		return false;
	return !a->driver_id || !b->driver_id || a->driver_id == b->driver_id;
}

static bool is_same_gpu(const struct trace *trace, uint32_t left, uint32_t right)
{
	const struct trace_agent *a = &trace->agents[left];
	const struct trace_agent *b = &trace->agents[right];
	const char *uuid = trace_text(trace, a->uuid);

	return a->uuid == b->uuid && uuid[0] != '\0' && strcmp(uuid, UUID_UNKNOWN) != 0 &&
	       is_same_place(a, b);
}

/* The GPU of AGENT; a new one if no GPU matches. LATEST: by GPU, the last process that has it.
 * Agents are ordered by process and a process has each GPU once, so a GPU that this process has
 * already is another one, even if it looks the same. */
static uint32_t find_gpu(struct gpus *gpus, const struct trace *trace, uint32_t agent,
			 uint32_t *latest)
{
	uint32_t process = trace->agents[agent].process, gpu = 0;

	while (gpu < gpus->count &&
	       (latest[gpu] == process || !is_same_gpu(trace, gpus->agents[gpu], agent)))
		gpu++;
	if (gpu == gpus->count) {
		gpus->agents[gpu] = agent;
		gpus->count++;
	}
	latest[gpu] = process;
	return gpu;
}

int gpus_init(struct gpus *gpus, const struct trace *trace)
{
	size_t room = (size_t)trace->agents_count + 1;
	uint32_t *latest = calloc(room, sizeof(*latest));

	*gpus = (struct gpus){
		.of_agent = calloc(room, sizeof(*gpus->of_agent)),
		.agents = calloc(room, sizeof(*gpus->agents)),
	};
	if (!gpus->of_agent || !gpus->agents || !latest) {
		gpus_release(gpus);
		free(latest);
		return -ENOMEM;
	}
	for (uint32_t agent = 0; agent < trace->agents_count; agent++) {
		if (trace->agents[agent].is_gpu)
			gpus->of_agent[agent] = find_gpu(gpus, trace, agent, latest);
	}
	free(latest);
	gpus->host = gpus->count;
	for (uint32_t agent = 0; agent < trace->agents_count; agent++) {
		if (!trace->agents[agent].is_gpu)
			gpus->of_agent[agent] = gpus->host;
	}
	return 0;
}

void gpus_release(struct gpus *gpus)
{
	free(gpus->of_agent);
	free(gpus->agents);
	gpus->of_agent = NULL;
	gpus->agents = NULL;
}
