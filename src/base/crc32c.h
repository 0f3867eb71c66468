/* CRC-32C (Castagnoli; reflected polynomial 0x82F63B78), as in iSCSI, RFC 3720 appendix B.4. Any
 * thread. Uses the SSE 4.2 instruction where the CPU has it. */
#ifndef DAGTAP_BASE_CRC32C_H
#define DAGTAP_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of BYTES, continued from CRC; 0 starts a new one. crc32c(crc32c(0, a), b) is the
 * checksum of a followed by b. */
uint32_t crc32c(uint32_t crc, const void *bytes, size_t length);

#endif
