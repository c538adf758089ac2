/* Judged properties: see property.h. */
#include "probe/property.h"

const char *property_status_name(enum property_status s)
{
	static const char *const names[PROPERTY_STATUSES] = {"ok", "fail", "unknown", "skipped"};

	return names[s];
}

struct property property_begin(const char *name)
{
	return (struct property){.name = name,
	                         .status = PROPERTY_UNKNOWN,
	                         .value = BUF(BUF_MAX_SMALL),
	                         .evidence = BUF(BUF_MAX_SMALL),
	                         .fix = BUF(BUF_MAX_SMALL)};
}

void property_end(struct property *p)
{
	BUFS_RELEASE(&p->value, &p->evidence, &p->fix);
}

void property_judge(struct property *out, enum property_status status, const char *fmt, ...)
{
	va_list args;

	out->status = status;
	buf_clear(&out->value);
	va_start(args, fmt);
	buf_vprintf(&out->value, fmt, args);
	va_end(args);
}

int property_say(struct property *out, enum property_status status, const char *value,
                 const char *evidence, const char *fix)
{
	property_judge(out, status, "%s", value);
	if (evidence)
		property_evidence(out, "%s", evidence);
	if (fix)
		property_fix(out, "%s", fix);
	return 0;
}

static void add_sentence(struct buf *to, const char *fmt, va_list args)
{
	buf_text(to, to->n ? "; " : "");
	buf_vprintf(to, fmt, args);
}

void property_evidence(struct property *out, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add_sentence(&out->evidence, fmt, args);
	va_end(args);
}

void property_fix(struct property *out, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add_sentence(&out->fix, fmt, args);
	va_end(args);
}
