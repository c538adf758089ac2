/* Converts data of adapters and policies to fields of the recording: see lines.h. */
#include "rollout/lines.h"

struct env_reply lines_unsent(const struct decision *d)
{
	return (struct env_reply){
		.outcome = d->outcome,
		.error = {.class = d->class, .layer = LAYER_BODY, .message = d->message},
	};
}

struct call_fields lines_call(const struct decision *d)
{
	return (struct call_fields){.id = d->id, .name = d->name, .arguments = d->arguments};
}

void lines_set_env(const struct env_facts *e, struct header_fields *out)
{
	out->protocol = e->protocol;
	out->env_name = e->name;
	out->env_version = e->version;
	out->state_kind = e->state_kind;
	out->state_target = e->state_target;
	out->state_arguments = e->state_arguments;
	out->state_ignore = e->state_ignore;
	out->tools = e->tools;
	out->url = e->url.n ? e->url : out->url;
	out->session = e->session;
	out->env_session = e->env_session;
	out->revision = e->revision;
	out->era = e->era;
	out->transport = e->transport;
}

void lines_set_policy(const struct policy_facts *p, struct header_fields *out)
{
	out->policy_kind = p->kind;
	out->policy_name = p->name;
	out->policy_params = p->params;
}
