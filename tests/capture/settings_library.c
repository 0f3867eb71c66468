/* A library that has settings for the injected one, as a tool that is linked with the SDK. */
#include <stddef.h>

#include "base/inject.h"

static const struct inject_settings settings = {
	.bytes = sizeof(settings),
	.wait = "2",
};

extern const struct inject_settings *const dagtap_settings_v1;
__attribute__((visibility("default"))) const struct inject_settings *const dagtap_settings_v1 =
	&settings;
