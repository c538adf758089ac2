/* The files of the page, as they are in this folder: page.html; page.css; and the scripts, one
   behind the other. Made at build time by the script `embed`. */
#ifndef ROLLDBG_REPORT_HTML_PARTS_H
#define ROLLDBG_REPORT_HTML_PARTS_H

#include <stddef.h>

extern const char page_part_page[], page_part_style[], page_part_script[];
extern const size_t page_part_page_n, page_part_style_n, page_part_script_n;

#endif
