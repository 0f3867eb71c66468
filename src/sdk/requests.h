/* Which external correlation id holds in a context: what the tool answers if it has asked to be
 * asked, else what it has pushed. Any thread; calls the tool. */
#ifndef DAGTAP_SDK_REQUESTS_H
#define DAGTAP_SDK_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the tool is asked for ids of KIND in the context with this NUMBER. */
bool requests_ask(uint32_t number, int kind);

/* The id of what the calling thread does now in call CID. */
uint64_t requests_external(uint32_t number, int kind, int operation, uint64_t cid);

/* The calling thread's id. */
uint64_t requests_tid(void);

/* In a child of fork: its thread has another id. */
void requests_forget_thread(void);

#endif
