/* Puts the page of a report together (report_page.h). */
#include "cli/report_page.h"

#include <errno.h>
#include <string.h>

/* The embedded files, terminated (report/page.S). */
extern const char report_page_html[], report_page_css[], report_page_js[], report_timeline_js[];

/* Within a script element '<' could begin a tag that ends it. In JSON it stands in strings only, in
 * which it may be written as \u003c. */
static void put_data(const char *data, size_t bytes, FILE *out)
{
	const char *end = data + bytes, *next;

	for (; (next = memchr(data, '<', (size_t)(end - data))); data = next + 1) {
		fwrite(data, 1, (size_t)(next - data), out);
		fputs("\\u003c", out);
	}
	fwrite(data, 1, (size_t)(end - data), out);
}

/* Writes the page up to MARK. Returns what follows MARK, or all that is left if there is none. */
static const char *put_until(const char *html, const char *mark, FILE *out)
{
	const char *found = strstr(html, mark);

	fwrite(html, 1, found ? (size_t)(found - html) : strlen(html), out);
	return found ? found + strlen(mark) : html + strlen(html);
}

int report_page_write(const char *data, size_t bytes, FILE *out)
{
	const char *html = put_until(report_page_html, "<!--css-->", out);

	fputs(report_page_css, out);
	html = put_until(html, "<!--data-->", out);
	put_data(data, bytes, out);
	html = put_until(html, "<!--js-->", out);
	fputs(report_timeline_js, out);
	fputs(report_page_js, out);
	fputs(html, out);
	if (fflush(out) != 0 || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}
