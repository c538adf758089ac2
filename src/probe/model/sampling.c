/* The server accepts what the policy requests: parameters, streaming, logprobs. */
#include "json/scan.h"
#include "policy/llm/profile.h"
#include "probe/model/preflight.h"

static void list_profiles(const char *name, struct property *out)
{
	const char *between = "";

	for (size_t i = 0; i < profiles_count; i++) {
		if (!profile_accepts(&profiles[i], name)) {
			buf_printf(&out->fix, "%s%s", between, profiles[i].name);
			between = ", ";
		}
	}
}

static bool some_profile_leaves_out(const char *name)
{
	for (size_t i = 0; i < profiles_count; i++) {
		if (!profile_accepts(&profiles[i], name)) {
			return true;
		}
	}
	return false;
}

static void advise(const struct preflight *p, struct property *out)
{
	const struct llm_conf *c = p->conf;
	struct str sent = p->refused;
	bool limit = str_is(sent, c->profile->max_tokens);
	const char *name = limit ? "max_tokens" : sent.p;

	if (json_get(c->extra, sent).p) {
		property_fix(out, "remove %s from the policy's \"extra\", which is sent unchanged",
		             name);
	} else if (str_starts(sent, STR("stream"))) {
		property_fix(out, "omit \1stream\2 (\"stream\": false)");
	} else if (str_starts(sent, STR("max_"))) {
		property_fix(out,
		             "the server names this parameter differently from profile %s: use "
		             "another \1profile\2",
		             c->profile->name);
	} else if (c->tokens && (str_starts(sent, STR("return_")) || !json_get(c->asked, sent).p)) {
		property_fix(out, "omit \1tokens\2, or use the server's own \1profile\2");
	} else if (some_profile_leaves_out(name)) {
		property_fix(out,
		             "remove %s from the policy's \"sampling\", or use a profile that "
		             "omits it: ",
		             name);
		list_profiles(name, out);
	} else {
		property_fix(out, "remove %s from the policy's \"sampling\"", name);
	}
}

static void judge_refused(const struct preflight *p, struct property *out)
{
	if (p->own.class == CHAT_CONTEXT) {
		property_judge(out, PROPERTY_FAIL, "max_tokens too large");
		property_fix(out, "lower \"max_tokens\": prompt and reply together must fit "
		                  "the model's context");
	} else if (p->refused.n) {
		property_judge(out, PROPERTY_FAIL, "%.*s is refused", STR_ARG(p->refused));
		advise(p, out);
	} else {
		property_judge(out, PROPERTY_FAIL, "refused");
		property_fix(out, "without the policy's sampling and extra the same request "
		                  "succeeds: remove what the message names, or use the "
		                  "server's defaults \1profile\2");
	}
	preflight_quote(out, "", &p->own);
}

/* Lists requested parameters that the profile does not send. */
static void report_unsent(const struct preflight *p, struct property *out)
{
	struct json_member m;
	struct buf name = BUF(BUF_MAX_SMALL);
	size_t kept = 0;

	for (size_t cursor = 0; json_next_member(p->conf->asked, &cursor, &m);) {
		buf_clear(&name);
		buf_str(&name, m.key);
		if (!llm_conf_sends(p->conf, buf_cstr(&name))) {
			buf_text(&out->evidence, kept++ ? ", " : "not sent: ");
			buf_str(&out->evidence, m.key);
		}
	}
	if (kept) {
		buf_printf(&out->evidence, " (profile %s)", p->conf->profile->name);
	}
	buf_release(&name);
}

static void examine(const struct preflight *p, struct property *out)
{
	size_t asked = json_count(p->conf->asked) + json_count(p->conf->extra);

	if (p->own.answered) {
		property_judge(out, PROPERTY_OK, asked ? "accepted" : "the server's defaults");
		report_unsent(p, out);
	} else if (preflight_tools_refused(&p->own)) {
		property_judge(out, PROPERTY_UNKNOWN, "not tested");
		property_evidence(out, "the request was refused because of its tools");
	} else if (!preflight_has_no_reply(p, out)) {
		judge_refused(p, out);
	}
}

const struct preflight_ops preflight_sampling = {examine};
