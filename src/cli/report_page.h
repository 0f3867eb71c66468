/* The page of a report: src/cli/report/page.html with page.css and page.js in it, which the build
 * embeds, and the data. It needs no network and forbids itself to use one.
 *
 * Threading: the main thread. */
#ifndef DAGTAP_CLI_REPORT_PAGE_H
#define DAGTAP_CLI_REPORT_PAGE_H

#include <stddef.h>
#include <stdio.h>

/* Writes the page with DATA, a JSON text of BYTES bytes, to OUT. Returns 0 or a negative errno. */
int report_page_write(const char *data, size_t bytes, FILE *out);

#endif
