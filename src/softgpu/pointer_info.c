/* HSA functions that tell what is known about an address, keep the program's data for it, and call
 * the program when its memory is freed. */
#include <stdlib.h>
#include <string.h>

#include "softgpu/agent.h"
#include "softgpu/api.h"
#include "softgpu/memory_block.h"
#include "softgpu/system_state.h"

static void fill_info(const struct memory_block *block, hsa_amd_pointer_info_t *info)
{
	info->type = block->is_locked ? HSA_EXT_POINTER_TYPE_LOCKED : HSA_EXT_POINTER_TYPE_HSA;
	if (block->is_mapping)
		info->type = (hsa_amd_pointer_type_t)HSA_EXT_POINTER_TYPE_HSA_VMEM;
	info->agentBaseAddress = (void *)(block->begin + block->lock_lead);
	info->hostBaseAddress = (void *)(block->host_begin + block->lock_lead);
	info->sizeInBytes = block->is_locked ? block->lock_bytes : block->bytes;
	info->userData = block->user_data;
	info->agentOwner = agent_handle(block->owner);
	info->global_flags = block->global_flags;
}

/* Copies what is known about an address. Returns false for an unknown address. */
static bool describe(const void *ptr, hsa_amd_pointer_info_t *ret_info,
		     struct agent_set *ret_access)
{
	const struct memory_block *block;
	bool known;

	blocks_lock();
	block = block_find(ptr);
	if (!block)
		block = block_find_locked_host(ptr);
	known = block != NULL;
	if (known) {
		fill_info(block, ret_info);
		*ret_access = block->access;
	}
	blocks_unlock();
	return known;
}

static hsa_status_t list_accessible(const struct agent_set *access, void *(*alloc)(size_t),
				    uint32_t *ret_count, hsa_agent_t **ret_agents)
{
	uint32_t count = 0;
	hsa_agent_t *list;

	for (uint32_t i = 0; i < agent_count(); i++)
		count += agent_set_has(access, i);
	*ret_count = count;
	if (!alloc || !ret_agents)
		return HSA_STATUS_SUCCESS;
	list = alloc((count ? count : 1) * sizeof(*list));
	if (!list)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	*ret_agents = list;
	for (uint32_t i = 0; i < agent_count(); i++) {
		if (agent_set_has(access, i))
			*list++ = agent_handle(agent_at(i));
	}
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_amd_pointer_info(const void *ptr, hsa_amd_pointer_info_t *info,
					  void *(*alloc)(size_t), uint32_t *num_agents_accessible,
					  hsa_agent_t **accessible)
{
	hsa_amd_pointer_info_t found = {.type = HSA_EXT_POINTER_TYPE_UNKNOWN};
	struct agent_set access = {0};

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!ptr || !info || info->size < offsetof(hsa_amd_pointer_info_t, agentBaseAddress))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	describe(ptr, &found, &access);
	/* A program that was compiled with an older header has a shorter structure. */
	found.size = info->size < sizeof(found) ? info->size : (uint32_t)sizeof(found);
	memcpy(info, &found, found.size);
	if (!num_agents_accessible)
		return HSA_STATUS_SUCCESS;
	return list_accessible(&access, alloc, num_agents_accessible, accessible);
}

hsa_status_t softgpu_hsa_amd_pointer_info_set_userdata(const void *ptr, void *userdata)
{
	struct memory_block *block;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!ptr)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	blocks_lock();
	block = block_find(ptr);
	if (!block)
		block = block_find_locked_host(ptr);
	if (block)
		block->user_data = userdata;
	blocks_unlock();
	return block ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t
softgpu_hsa_amd_register_deallocation_callback(void *ptr, hsa_amd_deallocation_callback_t callback,
					       void *user_data)
{
	struct notifier *notifier;
	struct memory_block *block;
	bool known;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!ptr || !callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	notifier = malloc(sizeof(*notifier));
	if (!notifier)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	*notifier = (struct notifier){.callback = callback, .user_data = user_data};
	blocks_lock();
	block = block_find(ptr);
	known = block && !block->is_locked;
	if (known) {
		notifier->next = block->notifiers;
		block->notifiers = notifier;
	}
	blocks_unlock();
	if (known)
		return HSA_STATUS_SUCCESS;
	free(notifier);
	return HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

hsa_status_t
softgpu_hsa_amd_deregister_deallocation_callback(void *ptr,
						 hsa_amd_deallocation_callback_t callback)
{
	struct notifier *notifier = NULL;
	struct memory_block *block;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	blocks_lock();
	block = block_find(ptr);
	for (struct notifier **link = block ? &block->notifiers : NULL; link && *link;
	     link = &(*link)->next) {
		if ((*link)->callback == callback) {
			notifier = *link;
			*link = notifier->next;
			break;
		}
	}
	blocks_unlock();
	if (!notifier)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	free(notifier);
	return HSA_STATUS_SUCCESS;
}
