/* Reads the options of filters and applies them (filter_options.h). */
#include "cli/filter_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/help.h"
#include "trace/keep.h"

/* Reads "1.5s", or a number of ns. */
static bool read_time(const char *text, struct filter_time *ret_time)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	struct filter_time time = {.is_given = true};
	char *end;
	double value;

	time.ns = strtoll(text, &end, 10);
	if (end != text && !*end) {
		*ret_time = time;
		return true;
	}
	value = strtod(text, &end);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]) && end != text; i++) {
		if (strcmp(end, units[i].name) != 0 || !(fabs(value * units[i].ns) < 9e18))
			continue;
		time.is_relative = true;
		time.ns = (int64_t)llround(value * units[i].ns);
		*ret_time = time;
		return true;
	}
	return false;
}

int filter_options_read_time(const struct cli_command *self, const char *name, const char *text,
			     struct filter_time *ret_time)
{
	if (!read_time(text, ret_time))
		return cli_usage(self, "--%s takes ns or a number with ns, us, ms or s, not \"%s\"",
				 name, text);
	return CLI_OK;
}

int filter_options_read(const struct cli_command *self, const struct filter_options *options,
			struct filter *ret_filter)
{
	struct filter filter = FILTER_ALL;
	int err = CLI_OK;

	filter.kernel = options->kernel;
	filter.scope = options->scope;
	if (options->from)
		err = filter_options_read_time(self, "from", options->from, &filter.from);
	if (err == CLI_OK && options->to)
		err = filter_options_read_time(self, "to", options->to, &filter.to);
	if (err == CLI_OK && options->stream)
		err = options_take_u32(self, "stream", options->stream, &filter.stream);
	if (err == CLI_OK && options->device)
		err = options_take_u32(self, "device", options->device, &filter.device);
	if (err == CLI_OK)
		*ret_filter = filter;
	return err;
}

int filter_options_select(const struct filter *filter, const char *path, const struct trace *trace,
			  struct selection *ret_selection)
{
	struct selection selection;

	if (filter_select(trace, filter, &selection) < 0)
		return cli_fail("%s: out of memory", path);
	if (!selection.activities_count && !selection.calls_count && filter_is_given(filter)) {
		selection_release(&selection);
		return cli_fail("%s: nothing in it is what the options select", path);
	}
	*ret_selection = selection;
	return CLI_OK;
}

int filter_options_apply(const struct filter *filter, const char *path, struct trace *trace)
{
	struct selection selection;
	int err;

	if (!filter_is_given(filter))
		return CLI_OK;
	err = filter_options_select(filter, path, trace, &selection);
	if (err != CLI_OK)
		return err;
	if (trace_keep(trace, selection.activities, selection.calls) < 0)
		err = cli_fail("%s: out of memory", path);
	selection_release(&selection);
	return err;
}
