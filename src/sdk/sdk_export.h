/* What all files with exported functions need. The functions have the interface's names and are
 * listed in functions.list, from which the symbols of the library and the answers of those that are
 * not there are made. */
#ifndef DAGTAP_SDK_SDK_EXPORT_H
#define DAGTAP_SDK_SDK_EXPORT_H

#include "sdk/abi.h"
#include "sdk/functions.h" /* generated: declares every function that is there */

#define SDK_EXPORT __attribute__((visibility("default")))

#endif
