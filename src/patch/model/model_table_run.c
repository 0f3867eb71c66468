/* The model device's table of addresses, the device's side: what a replay reads from it. */
#include <string.h>

#include "patch/model/model_parts.h"

void model_table_advance(struct driver_table *table)
{
	uint64_t end = table->ends[table->started % table->versions];

	for (uint64_t at = table->applied; at < end; at++) {
		const struct table_entry *entry = &table->log[at % table->log_count];

		table->addresses[entry->slot] = entry->address;
	}
	table->applied = end;
	table->started++;
}

void model_table_finish(struct driver_table *table)
{
	table->finished++;
}

void model_table_overlay(const struct driver_table *table, uint32_t index, uint8_t *arguments)
{
	uint32_t low = 0, high = table->relocation_count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (table->relocations[middle].node < index)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < table->relocation_count && table->relocations[low].node == index; low++) {
		const struct table_relocation *relocation = &table->relocations[low];
		uint64_t address = table->addresses[relocation->slot];

		if (address == 0)
			continue;
		address += (uint64_t)relocation->addend;
		memcpy(arguments + relocation->byte, &address, sizeof(address));
	}
}
