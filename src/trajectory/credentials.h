/* Where secrets stand in what a user gives: in headers, and in URLs. */
#ifndef ROLLDBG_TRAJECTORY_CREDENTIALS_H
#define ROLLDBG_TRAJECTORY_CREDENTIALS_H

#include "base/base.h"

struct secrets; /* trajectory/redact.h */

/* Does a header, a parameter or a variable of that name carry a credential? By its words: token, secret, password,
   api-key, authorization, cookie, signature and the like, and names that end with key. */
bool credentials_named(struct str name);

/* Adds the value of a header line "Name: value" when its name is one of a credential, or `whatever` it is. The scheme
   word ("Bearer ") stays; of Basic the password counts alone too, of cookies each value. False: the value is too short
   to be hidden. */
bool credentials_add_header(struct secrets *s, struct str header, bool whatever);

/* Adds what is secret in a URL: user and password, and values of the query under names of credentials. */
void credentials_add_url(struct secrets *s, const char *url);

#endif
