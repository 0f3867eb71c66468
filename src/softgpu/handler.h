/* Async handlers (hsa_amd_signal_async_handler) and async functions (hsa_amd_async_function). One
 * thread of the runtime, the handler thread, calls them all. Each signal has a list of its
 * handlers, so the cost of a change depends on that signal's handlers only. */
#ifndef SOFTGPU_HANDLER_H
#define SOFTGPU_HANDLER_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

struct softgpu_signal;

/* Queues SIGNAL for the handler thread. Called by the thread that changed the signal's value, when
 * handlers are armed on it. Any thread; takes the handler lock for a moment. */
void handler_notify(struct softgpu_signal *signal);

/* Waits until all callbacks that are due have run and no callback is running. Handlers that are
 * still armed are never called afterwards. The last hsa_shut_down calls this before it closes the
 * tools' libraries, which may hold the callbacks. Does nothing on the handler thread and in a
 * forked child. */
void handler_shut_down(void);

#endif
