/* hsa_status_string: for each status its name and a sentence. */
#include <stddef.h>

#include "softgpu/api.h"

#define STATUS(name, text)                                                                         \
	{                                                                                          \
		HSA_STATUS_##name, "HSA_STATUS_" #name ": " text                                   \
	}

static const struct {
	unsigned int status;
	const char *text;
} texts[] = {
	STATUS(SUCCESS, "The function has been executed successfully."),
	STATUS(INFO_BREAK, "A traversal was stopped by the program's callback."),
	STATUS(CU_MASK_REDUCED, "The compute unit mask was reduced."),
	STATUS(ERROR, "A generic error has occurred."),
	STATUS(ERROR_INVALID_ARGUMENT, "One of the arguments is not valid."),
	STATUS(ERROR_INVALID_QUEUE_CREATION, "The requested queue cannot be made."),
	STATUS(ERROR_INVALID_ALLOCATION, "The requested allocation is not valid."),
	STATUS(ERROR_INVALID_AGENT, "The agent is not valid."),
	STATUS(ERROR_INVALID_REGION, "The memory region is not valid."),
	STATUS(ERROR_INVALID_SIGNAL, "The signal is not valid."),
	STATUS(ERROR_INVALID_QUEUE, "The queue is not valid."),
	STATUS(ERROR_OUT_OF_RESOURCES, "The resources that the request needs are not there."),
	STATUS(ERROR_INVALID_PACKET_FORMAT, "The AQL packet is malformed."),
	STATUS(ERROR_RESOURCE_FREE, "A resource could not be released."),
	STATUS(ERROR_NOT_INITIALIZED, "The runtime or the extension is not initialized."),
	STATUS(ERROR_REFCOUNT_OVERFLOW, "The reference count is at its maximum."),
	STATUS(ERROR_INCOMPATIBLE_ARGUMENTS, "The arguments do not go together."),
	STATUS(ERROR_INVALID_INDEX, "The index is not valid."),
	STATUS(ERROR_INVALID_ISA, "The instruction set architecture is not valid."),
	STATUS(ERROR_INVALID_ISA_NAME, "The name of the instruction set is not valid."),
	STATUS(ERROR_INVALID_CODE_OBJECT, "The code object is not valid."),
	STATUS(ERROR_INVALID_EXECUTABLE, "The executable is not valid."),
	STATUS(ERROR_FROZEN_EXECUTABLE, "The executable is frozen."),
	STATUS(ERROR_INVALID_SYMBOL_NAME, "There is no symbol of that name."),
	STATUS(ERROR_VARIABLE_ALREADY_DEFINED, "The variable is defined already."),
	STATUS(ERROR_VARIABLE_UNDEFINED, "The variable is not defined."),
	STATUS(ERROR_EXCEPTION, "A hardware exception has occurred."),
	STATUS(ERROR_INVALID_CODE_SYMBOL, "The code object symbol is not valid."),
	STATUS(ERROR_INVALID_EXECUTABLE_SYMBOL, "The executable symbol is not valid."),
	STATUS(ERROR_INVALID_FILE, "The file is not valid."),
	STATUS(ERROR_INVALID_CODE_OBJECT_READER, "The code object reader is not valid."),
	STATUS(ERROR_INVALID_CACHE, "The cache is not valid."),
	STATUS(ERROR_INVALID_WAVEFRONT, "The wavefront is not valid."),
	STATUS(ERROR_INVALID_SIGNAL_GROUP, "The signal group is not valid."),
	STATUS(ERROR_INVALID_RUNTIME_STATE, "The runtime is not in a state for this."),
	STATUS(ERROR_FATAL, "The queue had an error that it does not recover from."),
	STATUS(ERROR_INVALID_MEMORY_POOL, "The memory pool is not valid."),
	STATUS(ERROR_MEMORY_APERTURE_VIOLATION, "An access lies outside its memory aperture."),
	STATUS(ERROR_ILLEGAL_INSTRUCTION, "An illegal instruction was met."),
	STATUS(ERROR_MEMORY_FAULT, "An address could not be accessed."),
};

hsa_status_t softgpu_hsa_status_string(hsa_status_t status, const char **status_string)
{
	if (!status_string)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (texts[i].status == (unsigned int)status) {
			*status_string = texts[i].text;
			return HSA_STATUS_SUCCESS;
		}
	}
	return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}
