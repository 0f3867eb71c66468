/* Tools: the libraries that the environment variable HSA_TOOLS_LIB names. Their function OnLoad may
 * change the dispatch tables. */
#ifndef SOFTGPU_TOOLS_H
#define SOFTGPU_TOOLS_H

/* Selects the dispatch tables (table_select), then loads the tools and calls each OnLoad. Called by
 * the first hsa_init. The caller holds no lock, so a tool may call HSA. */
void tools_load(void);
/* Calls each tool's OnUnload, the last loaded first, and restores the dispatch tables. Called by
 * the last hsa_shut_down, without a lock. */
void tools_unload(void);
/* Closes the tools' libraries. Called after tools_unload, when no thread runs their code. */
void tools_close(void);

/* Splits LIST at spaces outside of quotes, as ROCr does; \" stands for a quote character. Writes up
 * to CAPACITY names to RET_NAMES and returns how many; the caller frees each. */
int tools_split_names(const char *list, char **ret_names, int capacity);

#endif
