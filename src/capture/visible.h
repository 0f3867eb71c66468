/* Marks the functions and objects that the injected library exports; all other symbols are
 * hidden. */
#ifndef DAGTAP_CAPTURE_VISIBLE_H
#define DAGTAP_CAPTURE_VISIBLE_H

#define CAPTURE_EXPORT __attribute__((visibility("default")))

#endif
