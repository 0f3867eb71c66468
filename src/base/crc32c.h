/* CRC-32C (Castagnoli; reflected 0x82F63B78), as in iSCSI, RFC 3720 appendix B.4. */
#ifndef DAGTAP_BASE_CRC32C_H
#define DAGTAP_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Continues from CRC (0 to start): crc32c(crc32c(0, a), b) is the sum of a followed by b. */
uint32_t crc32c(uint32_t crc, const void *bytes, size_t length);

#endif
