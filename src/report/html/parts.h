/* The files of this directory that make the page: page.html, page.css, and the scripts
   concatenated. Generated at build time by `embed`. */
#pragma once

#include <stddef.h>

extern const char page_part_page[], page_part_style[], page_part_script[];
extern const size_t page_part_page_n, page_part_style_n, page_part_script_n;
