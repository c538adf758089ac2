/* The model is reachable, replies and is listed. */
#include "probe/model/preflight.h"

#include "base/text.h"
#include "json/scan.h"

static void judge_unreachable(const struct preflight *p, struct property *out)
{
	bool plain = text_glob(STR("*use http:// instead of https://*"), p->list_fault);

	property_say(out, PROPERTY_FAIL, "unreachable", p->list_fault.p,
	             plain ? "use http:// in \1base_url\2"
	             : str_starts(p->list_fault, STR("TLS"))
	                     ? "give the server a certificate for that host name, or pass its CA "
	                       "with \1ca_file\2"
	             : str_starts(p->list_fault, STR("cannot resolve"))
	                     ? "correct the host name in \1base_url\2"
	                     : "start the model's server, or correct host and port in "
	                       "\1base_url\2");
}

/* Some servers name models MODEL@REVISION: the same model, if one side leaves the revision out. */
static bool is_same_model(const char *a, const char *b)
{
	size_t n = strcspn(a, "@");

	return strcmp(a, b) == 0 ||
	       (n == strcspn(b, "@") && strncmp(a, b, n) == 0 && (!a[n] || !b[n]));
}

static bool is_listed(const struct preflight *p)
{
	for (size_t i = 0; i < p->name_count; i++)
		if (is_same_model(p->names[i], p->conf->model))
			return true;
	return false;
}

static void advise_name(const struct preflight *p, struct property *out)
{
	const char *near = text_nearest(str_from(p->conf->model), p->names, p->name_count);

	if (near) {
		property_fix(out, "use \1model\2 %s", near);
		return;
	}
	if (!p->name_count) {
		property_fix(out, "use \1model\2 with a name that the server knows");
		return;
	}
	property_fix(out, "use \1model\2 with one of the listed names:");
	for (size_t i = 0; i < p->name_count && i < 5; i++)
		buf_printf(&out->fix, "%s %s", i ? "," : "", p->names[i]);
	buf_text(&out->fix, p->name_count > 5 ? ", .." : "");
}

static void advise_key(const struct preflight *p, int status, struct property *out)
{
	AUTO_BUF name = BUF(BUF_MAX_SMALL);

	json_decode(JSON_GET(p->conf->params, "key_env"), &name);
	if (!p->conf->key) {
		property_fix(out, "no API key was sent: name the environment variable that "
		                  "holds it with \1key_env\2");
	} else if (status == 403) {
		property_fix(out,
		             "the key in %s is not allowed to use this model: use another "
		             "key, or grant it access",
		             buf_cstr(&name));
	} else {
		property_fix(out,
		             "the server rejected the key in %s: correct its value, or name "
		             "another variable with \1key_env\2",
		             buf_cstr(&name));
	}
}

static void advise_base_url(const struct preflight *p, struct property *out)
{
	property_fix(out,
	             "\1base_url\2 must be the root of an OpenAI-compatible API, usually ending "
	             "in /v1; the request went to %s",
	             p->conf->url);
}

static const struct {
	const char *value, *fix;
} by_class[] = {
	[CHAT_TRANSPORT] = {"no reply", "check the server's log, or raise \1model_timeout\2"},
	[CHAT_RATE_LIMIT] = {"rate limited", "wait, or raise the limit; in a run, use fewer "
                                             "rollouts at a time (\1jobs\2)"},
	[CHAT_QUOTA] = {"quota exceeded", "the account has no quota left"},
	[CHAT_OVERLOAD] = {"overloaded", "try again later; if the server is yours, check its log"},
	[CHAT_SERVER] = {"server error", "check the server's log"},
	[CHAT_POISON] = {"server error", "check the server's log"},
	[CHAT_AUTH] = {"access denied", NULL},
	[CHAT_CONTEXT] = {"context too small",
                          "serve the model with a longer context: it is too small for "
                          "the tools alone"},
	[CHAT_REQUEST] = {"request refused", "correct what the message names"},
	[CHAT_PROTOCOL] = {"not a chat completions API", NULL},
};

static bool says_html(const struct model_answer *a)
{
	return str_ends(a->message, STR("not a model API?"));
}

static void judge_not_found(const struct preflight *p, const struct model_answer *a,
                            struct property *out)
{
	bool names_it = strstr(a->message.p ? a->message.p : "", p->conf->model) != NULL;

	if (!says_html(a) && (names_it || (p->names && !is_listed(p)))) {
		property_judge(out, PROPERTY_FAIL, "unknown model \"%s\"", p->conf->model);
		advise_name(p, out);
	} else {
		property_say(out, PROPERTY_FAIL, "not a chat completions API", NULL, NULL);
		advise_base_url(p, out);
	}
}

static void judge_no_reply(const struct preflight *p, struct property *out)
{
	const struct model_answer *a = p->plain.asked ? &p->plain : &p->own;
	const char *fix = by_class[a->class].fix;

	property_judge(out, PROPERTY_FAIL, "%s", by_class[a->class].value);
	preflight_quote(out, "", a);
	if (a->class == CHAT_AUTH)
		advise_key(p, a->status, out);
	else if (a->class == CHAT_REQUEST && a->status == 404)
		judge_not_found(p, a, out);
	else if (a->class == CHAT_PROTOCOL || says_html(a))
		advise_base_url(p, out);
	else if (a->class == CHAT_REQUEST && p->names && !is_listed(p))
		advise_name(p, out);
	else
		property_fix(out, "%s", fix);
}

static void judge_unlisted(const struct preflight *p, struct property *out)
{
	const struct model_answer *reply = preflight_reply(p);
	bool same = reply && reply->model.p && is_same_model(reply->model.p, p->conf->model);

	property_judge(out, same ? PROPERTY_UNKNOWN : PROPERTY_FAIL,
	               "replies, but \"%s\" is not listed", p->conf->model);
	if (reply && reply->model.n)
		property_evidence(out, "the reply names model %.*s", STR_ARG(reply->model));
	else
		property_evidence(out, "the reply does not name its model");
	advise_name(p, out);
}

void preflight_model(const struct preflight *p, struct property *out)
{
	if (p->unreachable) {
		judge_unreachable(p, out);
	} else if (!preflight_reply(p) && !preflight_tools_refused(&p->own)) {
		judge_no_reply(p, out);
	} else if (!p->names) {
		property_judge(out, PROPERTY_UNKNOWN, "replies");
		property_evidence(out, "the list of models could not be read: GET /models: %.*s",
		                  STR_ARG(p->list_fault));
	} else if (is_listed(p)) {
		property_judge(out, PROPERTY_OK, "replies, and is one of %zu listed models",
		               p->name_count);
	} else {
		judge_unlisted(p, out);
	}
}
