/* Marks what the injected library shows to the process; everything else is hidden. */
#ifndef DAGTAP_CAPTURE_EXPORT_H
#define DAGTAP_CAPTURE_EXPORT_H

#define CAPTURE_EXPORT __attribute__((visibility("default")))

#endif
