/* Finds secrets in user-supplied headers, URLs and commands. */
#pragma once

#include "base/base.h"

struct secrets; /* recording/redact.h */

/* Does a header, parameter or variable of that name carry a credential? Decided by words in the
   name: token, secret, password, api-key, authorization, cookie, signature and similar, and
   names that end with key, jwt and similar. */
bool credentials_named(struct str name);

/* Adds the value of a header line "Name: value" if the name is that of a credential or
   `whatever` is set. The scheme word ("Bearer ") is not part of the secret; the password of
   Basic and each cookie value are also added separately. False: the value is too short to be
   redacted. */
bool credentials_add_header(struct secrets *s, struct str header, bool whatever);

/* Adds the secrets in a URL: user and password, and values in its query and fragment with a
   credential's name. */
void credentials_add_url(struct secrets *s, const char *url);

/* Adds the secrets in a target: a URL, also USER:PASSWORD@HOST without a scheme, or stdio:COMMAND,
   whose words can be assignments, options, headers and URLs. */
void credentials_add_target(struct secrets *s, const char *target);
