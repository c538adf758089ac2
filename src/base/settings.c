/* Settings named in messages: see settings.h. */
#include "base/settings.h"

void settings_as_keys(char *text)
{
	for (char *p = text; *p; p++)
		if (*p == SETTING_BEGIN || *p == SETTING_END)
			*p = '"';
}

void settings_unmark(char *text)
{
	char *to = text;

	for (const char *p = text; *p; p++)
		if (*p != SETTING_BEGIN && *p != SETTING_END)
			*to++ = *p;
	*to = '\0';
}
