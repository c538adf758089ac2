/* Names of settings in messages. Code below src/cmd does not depend on whether a setting was
   given as an option or as a key of a file: its messages write a setting's name between \1 and
   \2, as in "\1max_turns\2: expected a number", and the code that read the setting replaces the
   marks: src/cmd writes the option (cmd/settings.h). A setting is named like its option, with
   '_' for '-'; a test checks that. */
#pragma once

#define SETTING_BEGIN '\1'
#define SETTING_END   '\2'

/* Writes the settings as keys of a JSON file: "max_turns", in quotes. */
void settings_as_keys(char *text);

/* Removes the marks and keeps the bare names: for recorded texts, which outlive the command
   line. */
void settings_unmark(char *text);
