/* The server takes what the policy asks for: parameters, streaming, log-probs. */
#include "json/scan.h"
#include "policy/llm/profile.h"
#include "probe/preflight.h"

static void list_profiles(const char *name, struct property *out)
{
	const char *between = "";

	for (size_t i = 0; i < profiles_count; i++) {
		if (!profile_accepts(&profiles[i], name)) {
			buf_printf(&out->cure, "%s%s", between, profiles[i].name);
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
		property_advise(out,
		                "take %s out of the policy's \"extra\", which is sent as "
		                "it is",
		                name);
	} else if (str_starts(sent, STR("stream"))) {
		property_advise(out, "leave out --stream (\"stream\": false)");
	} else if (str_starts(sent, STR("max_"))) {
		property_advise(out,
		                "this server calls the limit of a reply otherwise than "
		                "%s does: another --profile",
		                c->profile->name);
	} else if (c->tokens &&
	           (str_starts(sent, STR("return_")) || !json_get(c->asked, sent).p)) {
		property_advise(out, "leave out --tokens, or name the server's own "
		                     "--profile");
	} else if (some_profile_leaves_out(name)) {
		property_advise(out,
		                "take %s out of the policy's \"sampling\"; profiles "
		                "that leave it out: ",
		                name);
		list_profiles(name, out);
	} else {
		property_advise(out, "take %s out of the policy's \"sampling\"", name);
	}
}

static void judge_refused(const struct preflight *p, struct property *out)
{
	if (p->own.class == CHAT_CONTEXT) {
		property_judge(out, PROPERTY_RED, "the reply may be too long");
		property_advise(out, "a smaller \"max_tokens\": prompt and reply have to "
		                     "fit into the model's context");
	} else if (p->refused.n) {
		property_judge(out, PROPERTY_RED, "%.*s is refused", STR_ARG(p->refused));
		advise(p, out);
	} else {
		property_judge(out, PROPERTY_RED, "refused");
		property_advise(out, "without the policy's sampling and extra the same "
		                     "request is answered: leave out what the message "
		                     "means, or name the server's own --profile");
	}
	preflight_quote(out, "", &p->own);
}

/* What the profile keeps back, since it is not sent and yet asked for. */
static void see_kept_back(const struct preflight *p, struct property *out)
{
	struct json_member m;
	struct buf name = BUF(BUF_MAX_SMALL);
	size_t kept = 0;

	for (size_t cursor = 0; json_next_member(p->conf->asked, &cursor, &m);) {
		buf_clear(&name);
		buf_str(&name, m.key);
		if (!profile_accepts(p->conf->profile, buf_cstr(&name))) {
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
		property_judge(out, PROPERTY_OK, asked ? "taken" : "the server's own");
		see_kept_back(p, out);
	} else if (preflight_tools_refused(&p->own)) {
		property_judge(out, PROPERTY_UNKNOWN, "not judged");
		property_saw(out, "the request was refused for its tools");
	} else if (!preflight_mute(p, out)) {
		judge_refused(p, out);
	}
}

const struct preflight_ops preflight_sampling = {examine};
