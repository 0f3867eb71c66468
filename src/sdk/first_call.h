/* Starts a tool that does not configure itself. */
#ifndef DAGTAP_SDK_FIRST_CALL_H
#define DAGTAP_SDK_FIRST_CALL_H

/* In a process that `dagtap record` does not record: looks for a tool, once, and configures it.
 * Called where the first library hands over its dispatch table. Any thread. */
void first_call_seek(void);

#endif
