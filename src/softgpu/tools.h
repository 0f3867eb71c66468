/* Tools: libraries named in HSA_TOOLS_LIB, whose OnLoad may rewrite the dispatch tables. */
#ifndef SOFTGPU_TOOLS_H
#define SOFTGPU_TOOLS_H

/* At the first hsa_init and the last hsa_shut_down, with no lock held. */
void tools_load(void);
void tools_unload(void); /* calls each OnUnload */
void tools_close(void);	 /* then, when no thread is inside them any more */

/* Splits LIST as ROCr does: at spaces outside quotes; \" is a quote. Up to CAPACITY names, each
 * allocated; returns how many. */
int tools_split_names(const char *list, char **ret_names, int capacity);

#endif
