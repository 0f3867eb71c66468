/* The state that all files of this folder share; see the header. */
#include "capture/hsa/hsa_state.h"

_Atomic bool hsa_live;
