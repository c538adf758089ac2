/* Checks of an MCP environment besides its replies: the control plane, and changes of the tool
   list. */
#include "env/mcp/mcp_internal.h"

#include "env/reading.h"

void mcp_note(struct env_mcp *e, enum event_kind event, const char *what, const char *why,
              bool skipped)
{
	reading_note(&e->base.events, event, what, str_from(why), skipped);
}

/* ---- the control plane ---- */

int mcp_read_status(struct env_mcp *e, struct env_reply *out, struct error *err)
{
	struct str status;

	if (control_read(&e->control, CONTROL_STATUS, &status, err))
		return -1;
	mcp_known_status(&e->known, status, buf_cstr(&e->control.why), out);
	e->base.facts.total_reward = mcp_known_total_reward(&e->known);
	return 0;
}

int mcp_read_control_plane(struct env_mcp *e, struct env_reply *out, struct error *err)
{
	struct str body;

	if (e->control.kind == CONTROL_NONE)
		return 0;
	if (mcp_read_status(e, out, err))
		return -1;
	if (e->known.state_lost)
		return 0;
	if (control_read(&e->control, CONTROL_REWARD, &body, err))
		return -1;
	mcp_known_reward(&e->known, body, buf_cstr(&e->control.why), out);
	return 0;
}

/* ---- tools ---- */

void mcp_note_endless(struct env_mcp *e, bool endless)
{
	if (endless) {
		mcp_note(e, EVENT_NOISE, "tools/list",
		         "pagination does not end: the cursor repeats, or the pages are too large "
		         "or too slow",
		         false);
	}
}

int mcp_check_tools(struct env_mcp *e, struct error *err)
{
	struct buf now = BUF(BUF_MAX_MESSAGE), detail = BUF(BUF_MAX_MESSAGE);
	struct mcp_reply r;
	bool endless;

	if (!e->session->tools_changed)
		return 0;
	e->session->tools_changed = false;
	int failed = mcp_list_tools(e->session, &now, &endless, &r, err);
	if (!failed && r.got != MCP_GOT_RESULT) {
		mcp_note(e, EVENT_NOISE, "tools/list",
		         "the tool list changed, but reading the new one was refused", false);
	} else if (!failed &&
	           tools_differ(buf_view(&e->tools), buf_view(&now), e->hasher, &detail)) {
		struct buf before = e->tools;

		e->tools = now;
		now = before;
		e->base.facts.tools = buf_view(&e->tools);
		events_push(&e->base.events, EVENT_TOOLS_CHANGED, buf_view(&detail));
	}
	mcp_note_endless(e, !failed && endless);
	BUFS_RELEASE(&now, &detail);
	return failed;
}
