/* Parses dynolog's text, and names the output; see dynolog_config.h. */
#include "capture/dynolog_config.h"

#include <stdio.h>
#include <string.h>

/* A part of the text. */
struct piece {
	const char *at;
	size_t bytes;
};

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct piece trim(struct piece piece)
{
	while (piece.bytes && is_space(piece.at[0])) {
		piece.at++;
		piece.bytes--;
	}
	while (piece.bytes && is_space(piece.at[piece.bytes - 1]))
		piece.bytes--;
	return piece;
}

static bool is_key(struct piece key, const char *name)
{
	return key.bytes == strlen(name) && !memcmp(key.at, name, key.bytes);
}

static void take_number(struct piece value, uint64_t *ret_number)
{
	uint64_t number = 0;

	if (!value.bytes || value.bytes > 18)
		return;
	for (size_t i = 0; i < value.bytes; i++) {
		if (value.at[i] < '0' || value.at[i] > '9')
			return;
		number = number * 10 + (uint64_t)(value.at[i] - '0');
	}
	*ret_number = number;
}

static void take_file(struct piece value, char ret_file[PATH_MAX])
{
	static const char scheme[] = "file://";
	const size_t scheme_bytes = sizeof(scheme) - 1;

	if (value.bytes >= scheme_bytes && !memcmp(value.at, scheme, scheme_bytes)) {
		value.at += scheme_bytes;
		value.bytes -= scheme_bytes;
	}
	if (value.bytes >= PATH_MAX || memchr(value.at, '\0', value.bytes))
		return;
	memcpy(ret_file, value.at, value.bytes);
	ret_file[value.bytes] = '\0';
}

static bool take_line(struct piece line, struct dynolog_config *config)
{
	const char *equals = memchr(line.at, '=', line.bytes);
	struct piece key, value;

	if (!equals || line.at[0] == '#')
		return false;
	key = trim((struct piece){line.at, (size_t)(equals - line.at)});
	value = trim((struct piece){equals + 1, line.bytes - (size_t)(equals - line.at) - 1});
	if (is_key(key, "PROFILE_START_TIME"))
		take_number(value, &config->start_ms);
	else if (is_key(key, "ACTIVITIES_DURATION_MSECS"))
		take_number(value, &config->duration_ms);
	else if (is_key(key, "ACTIVITIES_LOG_FILE"))
		take_file(value, config->log_file);
	else if (is_key(key, "ACTIVITIES_ITERATIONS"))
		take_number(value, &config->iterations);
	else if (is_key(key, "PROFILE_START_ITERATION"))
		take_number(value, &config->first_iteration);
	else if (is_key(key, "PROFILE_START_ITERATION_ROUNDUP"))
		take_number(value, &config->round_up);
	return key.bytes > 0;
}

bool dynolog_config_read(const char *text, size_t bytes, struct dynolog_config *ret_config)
{
	struct dynolog_config config = {0};
	bool any = false;

	while (bytes) {
		const char *newline = memchr(text, '\n', bytes);
		size_t line_bytes = newline ? (size_t)(newline - text) : bytes;
		struct piece line = trim((struct piece){text, line_bytes});

		any |= line.bytes && take_line(line, &config);
		text += line_bytes + !!newline;
		bytes -= line_bytes + !!newline;
	}
	config.has_duration = config.duration_ms != 0;
	if (!config.has_duration)
		config.duration_ms = DYNOLOG_DURATION_MS;
	if (!config.round_up)
		config.round_up = 1;
	if (any)
		*ret_config = config;
	return any;
}

static const char *find_last(const char *text, const char *part)
{
	const char *last = NULL;

	for (const char *at = text; (at = strstr(at, part)); at++)
		last = at;
	return last;
}

bool dynolog_output_name(const char *log_file, const char *folder, pid_t pid,
			 char ret_name[PATH_MAX])
{
	const char *extension = find_last(log_file, ".json");
	int head = (int)(extension ? (size_t)(extension - log_file) : strlen(log_file));
	bool is_absolute = *log_file == '/';
	int chars = snprintf(ret_name, PATH_MAX, "%s%s%.*s_%ld%s", is_absolute ? "" : folder,
			     is_absolute ? "" : "/", head, log_file, (long)pid,
			     extension ? extension : "");

	return chars > 0 && chars < PATH_MAX;
}
