/* Web pages received in place of something else: a proxy's error page, a login. They are
   detected and summarized, never printed. */
#pragma once

#include "base/buf.h"

/* Does the body begin like an HTML document? */
bool html_is_page(struct str body);
/* Appends `a web page ("502 Bad Gateway")`, escaped, or `a web page`. */
void html_summary(struct str body, struct buf *out);
