/* The model is there, answers, and is known by its name. */
#include "probe/preflight.h"

#include "json/scan.h"

/* ---- nobody, or somebody else ---- */

static void judge_nobody(const struct preflight *p, struct property *out)
{
	property_judge(out, PROPERTY_RED, "out of reach");
	property_saw(out, "%.*s", STR_ARG(p->list_fault));
	if (str_starts(p->list_fault, STR("TLS"))) {
		property_advise(out, "have the server present a certificate for that "
		                     "name, or name who signed it: --ca-file");
	} else if (str_starts(p->list_fault, STR("cannot resolve"))) {
		property_advise(out, "correct the host in --base-url");
	} else {
		property_advise(out, "start the model's server; is it the host and the "
		                     "port of --base-url?");
	}
}

static bool is_listed(const struct preflight *p)
{
	for (size_t i = 0; i < p->name_count; i++) {
		if (strcmp(p->names[i], p->conf->model) == 0) {
			return true;
		}
	}
	return false;
}

static void advise_name(const struct preflight *p, struct property *out)
{
	struct str near =
		preflight_nearest(str_from(p->conf->model), p->names, p->name_count);

	if (near.p) {
		property_advise(out, "--model %.*s", STR_ARG(near));
		return;
	}
	if (!p->name_count) {
		property_advise(out, "--model with a name that the server knows");
		return;
	}
	property_advise(out, "--model with a name that the server lists:");
	for (size_t i = 0; i < p->name_count && i < 5; i++) {
		buf_printf(&out->cure, "%s %s", i ? "," : "", p->names[i]);
	}
	buf_text(&out->cure, p->name_count > 5 ? ", .." : "");
}

static void advise_key(const struct preflight *p, int status, struct property *out)
{
	struct buf name = BUF(BUF_MAX_SMALL);

	json_decode(JSON_GET(p->conf->params, "key_env"), &name);
	if (!p->conf->key) {
		property_advise(out, "no key was sent: name the environment variable "
		                     "that holds it, --key-env");
	} else if (status == 403) {
		property_advise(out,
		                "the key in %s is not allowed to use this model: use "
		                "another, or have it allowed",
		                buf_cstr(&name));
	} else {
		property_advise(out,
		                "the key in %s is not the one that the server wants: "
		                "another value, or another variable (--key-env)",
		                buf_cstr(&name));
	}
	buf_release(&name);
}

static void advise_place(const struct preflight *p, struct property *out)
{
	property_advise(out,
	                "--base-url is the root of an OpenAI-compatible API, mostly "
	                "ending in /v1; asked was %s",
	                p->conf->url);
}

/* ---- somebody who gives no reply ---- */

static const struct {
	const char *value, *cure;
} by_class[] = {
	[CHAT_TRANSPORT] = {"no reply", "see the server's own log; --model-timeout gives "
                                        "it more time"},
	[CHAT_RATE_LIMIT] = {"turned away", "wait, or have the limit raised; in a run, "
                                            "fewer rollouts at a time (--jobs)"},
	[CHAT_QUOTA] = {"turned away", "the account has nothing left to spend"},
	[CHAT_OVERLOAD] = {"overloaded", "try again later; where it is your server, see "
                                         "its log"},
	[CHAT_SERVER] = {"fails", "see the server's own log"},
	[CHAT_POISON] = {"fails", "see the server's own log"},
	[CHAT_AUTH] = {"no admission", NULL},
	[CHAT_CONTEXT] = {"no room", "the model's context is too small for the tools "
                                     "alone: serve it with more"},
	[CHAT_REQUEST] = {"refuses", "see what its message says"},
	[CHAT_PROTOCOL] = {"no chat completions", NULL},
};

static bool says_html(const struct model_answer *a)
{
	return str_ends(a->message, STR("is this the API?"));
}

static void judge_not_found(const struct preflight *p, const struct model_answer *a,
                            struct property *out)
{
	bool names_it = strstr(a->message.p ? a->message.p : "", p->conf->model) != NULL;

	if (!says_html(a) && (names_it || (p->names && !is_listed(p)))) {
		property_judge(out, PROPERTY_RED, "no model \"%s\"", p->conf->model);
		advise_name(p, out);
	} else {
		property_judge(out, PROPERTY_RED, "no chat completions");
		advise_place(p, out);
	}
}

static void judge_mute(const struct preflight *p, struct property *out)
{
	const struct model_answer *a = p->plain.asked ? &p->plain : &p->own;
	const char *cure = by_class[a->class].cure;

	property_judge(out, PROPERTY_RED, "%s", by_class[a->class].value);
	preflight_quote(out, "", a);
	if (a->class == CHAT_AUTH) {
		advise_key(p, a->status, out);
	} else if (a->class == CHAT_REQUEST && a->status == 404) {
		judge_not_found(p, a, out);
	} else if (a->class == CHAT_PROTOCOL || says_html(a)) {
		advise_place(p, out);
	} else if (a->class == CHAT_REQUEST && p->names && !is_listed(p)) {
		advise_name(p, out);
	} else {
		property_advise(out, "%s", cure);
	}
}

/* ---- one that replies ---- */

static void judge_unlisted(const struct preflight *p, struct property *out)
{
	const struct model_answer *reply = preflight_reply(p);
	bool same = reply && str_is(reply->model, p->conf->model);

	property_judge(out, same ? PROPERTY_UNKNOWN : PROPERTY_RED,
	               "replies, but \"%s\" is not listed", p->conf->model);
	if (reply && reply->model.n) {
		property_saw(out, "the reply says it is from %.*s",
		             STR_ARG(reply->model));
	} else {
		property_saw(out, "the reply does not say which model it is from");
	}
	advise_name(p, out);
}

static void examine(const struct preflight *p, struct property *out)
{
	if (p->nobody) {
		judge_nobody(p, out);
	} else if (!preflight_reply(p) && !preflight_tools_refused(&p->own)) {
		judge_mute(p, out);
	} else if (!p->names) {
		property_judge(out, PROPERTY_UNKNOWN, "replies");
		property_saw(out,
		             "whether it is listed cannot be told: GET /models: %.*s",
		             STR_ARG(p->list_fault));
	} else if (is_listed(p)) {
		property_judge(out, PROPERTY_OK, "replies, listed: one of %zu",
		               p->name_count);
	} else {
		judge_unlisted(p, out);
	}
}

const struct preflight_ops preflight_model = {examine};
