/* hsa_amd_signal_async_handler: callbacks on one runtime thread. Handlers hang on their signal, so
 * a change costs what is armed on that signal and no scan over all. */
#ifndef SOFTGPU_HANDLER_H
#define SOFTGPU_HANDLER_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

struct softgpu_signal;

/* The signal's value changed and something is armed on it. */
void handler_notify(struct softgpu_signal *signal);

/* At the last hsa_shut_down, before the tools' libraries are closed: callbacks that are due have
 * run, none runs any more, and what is still armed is never called. Called from a callback it does
 * nothing. */
void handler_shut_down(void);

#endif
