/* Fault html-200: a web page in place of the MCP endpoint, as behind a proxy or on a wrong port. */
#include "serve/fault/hooks.h"

static bool reply_page(const struct request *q, struct reply *r)
{
	if (!str_starts(q->path, STR("/mcp"))) {
		return false;
	}
	r->status = 200;
	r->type = "text/html; charset=utf-8";
	buf_text(&r->body, "<!DOCTYPE html>\n"
	                   "<html><head><title>Welcome</title></head><body><h1>It "
	                   "works!</h1></body></html>\n");
	return true;
}

const struct fault_hooks fault_html_200 = {.request = reply_page};
