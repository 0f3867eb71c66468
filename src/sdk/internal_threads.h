/* Who is told when this library makes a thread. Any thread. */
#ifndef DAGTAP_SDK_INTERNAL_THREADS_H
#define DAGTAP_SDK_INTERNAL_THREADS_H

/* The calling thread is about to make a thread, or has made it: tells the tools. */
void internal_threads_before(void);
void internal_threads_after(void);

#endif
