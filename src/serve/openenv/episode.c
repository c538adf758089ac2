/* A world as an OpenEnv environment: see episode.h. */
#include "serve/openenv/episode.h"

#include "json/scan.h"
#include "json/write.h"
#include "serve/served.h"

#include <inttypes.h>

#define ID_MAX ((size_t)16 << 20) /* the limit of the message that contains it */

void episode_begin(struct openenv_episode *e, const struct serve_conf *c, uint64_t seed,
                   struct str id)
{
	struct buf kept = e->id.max ? e->id : BUF(ID_MAX);
	AUTO_BUF text = BUF(ID_MAX);

	buf_clear(&kept);
	if (json_type(id) == JSON_STRING) {
		json_decode(id, &text);
		json_quote(&kept, buf_view(&text));
	}
	world_end(e->world, e->instance);
	*e = (struct openenv_episode){.world = c->world,
	                              .instance =
	                                      world_begin(c->world, &c->world_conf, seed, c->clock),
	                              .id = kept};
}

/* Executes a call; the caller releases the buffers of *a. False: refused. */
static bool act(struct openenv_episode *e, struct str tool, struct str arguments,
                struct world_call *a)
{
	*a = (struct world_call){.tool = tool,
	                         .arguments = arguments,
	                         .text = BUF(BUF_MAX_MESSAGE),
	                         .structured = BUF(BUF_MAX_MESSAGE)};
	if (json_named(*e->world->tools, tool).p)
		e->world->call(e->instance, a);
	else
		world_call_unknown_tool(a);
	if (!a->is_error) {
		e->reward = a->reward;
		e->terminated = a->terminated;
	}
	return !a->is_error;
}

void episode_release(struct openenv_episode *e)
{
	world_end(e->world, e->instance);
	buf_release(&e->id);
	*e = (struct openenv_episode){0};
}

static void write_state_members(const struct openenv_episode *e, struct buf *out)
{
	AUTO_BUF state = BUF(BUF_MAX_MESSAGE);

	e->world->state(e->instance, &state);
	if (state.n > 2)
		buf_str(out, (struct str){state.p + 1, state.n - 2});
}

/* An environment of tools returns only the result of a call; when asked without a call, it
   reports that it is closed. */
static void observe_no_call(bool stepped, struct buf *out)
{
	buf_text(
		out,
		stepped ? "{\"observation\":{\"metadata\":{},\"tool_name\":null,\"result\":null,\"error\":{\"error_type\":\"execution_error\",\"message\":\"environment "
			  "is closed\"}},\"reward\":null,\"done\":false}"
			: "{\"observation\":{\"metadata\":{}},\"reward\":null,\"done\":false}");
}

void episode_observe(const struct openenv_episode *e, bool stepped, bool metadata, struct buf *out)
{
	AUTO_BUF said = BUF(BUF_MAX_MESSAGE);

	if (episode_has_tools(e->world)) {
		observe_no_call(stepped, out);
		return;
	}
	if (stepped)
		e->world->info(e->instance, &said);
	else
		buf_text(&said, "{}");
	buf_text(out, "{\"observation\":{");
	if (metadata)
		buf_printf(out, "\"metadata\":%s,", buf_cstr(&said));
	write_state_members(e, out);
	if (stepped) {
		buf_printf(out, "},\"reward\":%d.0,\"done\":%s", e->reward,
		           e->terminated ? "true" : "false");
	} else {
		buf_text(out, "},\"reward\":null,\"done\":false");
	}
	if (metadata && stepped)
		buf_printf(out, ",\"metadata\":%s", buf_cstr(&said));
	buf_char(out, '}');
}

void episode_state(const struct openenv_episode *e, struct buf *out)
{
	buf_printf(out, "{\"episode_id\":%s,\"step_count\":%" PRIu64 ",\"terminated\":%s,",
	           e->id.n ? buf_cstr(&e->id) : "null", e->step_count,
	           e->terminated ? "true" : "false");
	write_state_members(e, out);
	buf_char(out, '}');
}

/* ---- schemas ---- */

/* The tool's arguments, and the members that every action may have. */
static void write_action_schema(struct str tool, struct buf *out)
{
	struct str schema = JSON_GET(tool, "inputSchema");
	struct str properties = JSON_GET(schema, "properties");

	buf_text(out, "{\"additionalProperties\":false,\"properties\":{\"metadata\":{"
	              "\"additionalProperties\":true,\"title\":\"Metadata\",\"type\":\"object\"},");
	buf_str(out, (struct str){properties.p + 1, properties.n - 1});
	buf_text(out, ",\"required\":");
	buf_str(out, JSON_GET(schema, "required"));
	buf_text(out, ",\"title\":");
	buf_str(out, JSON_GET(tool, "name"));
	buf_text(out, ",\"type\":\"object\"}");
}

/* Of an action that asks for the list of tools. */
#define LIST_TOOLS                                                                                 \
	"{\"properties\":{\"metadata\":{\"type\":\"object\"},\"type\":{\"const\":\"list_tools\"}}}"

void episode_action_schema(const struct world *w, struct str action, struct buf *out)
{
	if (!episode_has_tools(w))
		write_action_schema(json_first(*w->tools), out);
	else
		buf_str(out, episode_lists_tools(action) ? STR(LIST_TOOLS) : served_call_tool);
}

void episode_schema(const struct world *w, struct buf *out)
{
	AUTO_BUF action = BUF(BUF_MAX_MESSAGE);

	episode_action_schema(w, STR_NONE, &action);
	episode_schema_of(buf_view(&action), out);
}

void episode_schema_of(struct str action, struct buf *out)
{
	json_pack(out, "{action:%r,observation:%r,state:%r,reset_observation:%r}",
	          action.p ? action : served_call_tool, served_observation, served_state,
	          served_observation);
}

/* ---- a world with several tools, like OpenEnv's MCPEnvironment ---- */

bool episode_has_tools(const struct world *w)
{
	return json_count(*w->tools) > 1;
}

static void write_result(const struct world_call *a, struct buf *out)
{
	struct str data = buf_given(&a->structured);

	struct json_writer w =
		jw_form(out, "{content:[{type:'text',text:%s,annotations:null,meta:null}]",
	                buf_view(&a->text));
	if (data.p) {
		jw_pack(&w, "structured_content:{result:%r},meta:{fastmcp:{wrap_result:true}}",
		        data);
	} else {
		jw_pack(&w, "structured_content:null,meta:null");
	}
	jw_pack(&w, "data:%r,is_error:false}", data);
}

bool episode_lists_tools(struct str action)
{
	struct str type = JSON_GET(action, "type");

	return json_type(type) == JSON_STRING && json_is(type, STR("list_tools"));
}

static void list_tools(const struct world *w, struct buf *out)
{
	struct str tool;

	struct json_writer j = jw_form(out, "{observation:{metadata:{},tools:[");
	for (size_t cursor = 0; json_next(*w->tools, &cursor, &tool);) {
		jw_pack(&j, "{name:%r,description:%r,input_schema:%r}", JSON_GET(tool, "name"),
		        JSON_GET(tool, "description"), JSON_GET(tool, "inputSchema"));
	}
	jw_pack(&j, "]},reward:null,done:false}");
}

/* A failed call also counts as a step. */
static void call_tool(struct openenv_episode *e, struct str tool, struct str arguments,
                      struct buf *out)
{
	AUTO_BUF result = BUF(BUF_MAX_MESSAGE);
	struct world_call a;

	e->step_count++;
	e->reward = 0;
	struct json_writer w = jw_form(out, "{observation:{metadata:{},tool_name:%r", tool);
	if (act(e, tool, arguments, &a)) {
		write_result(&a, &result);
		jw_pack(&w, "result:%r,error:null}", buf_view(&result));
	} else {
		jw_pack(&w, "result:null,error:{error_type:%t,message:%s}}",
		        json_named(*e->world->tools, tool).p ? "execution_error" : "tool_not_found",
		        buf_view(&a.text));
	}
	buf_printf(out, ",\"reward\":%d.0,\"done\":%s}", e->reward,
	           e->terminated ? "true" : "false");
	BUFS_RELEASE(&a.text, &a.structured);
}

bool episode_act(struct openenv_episode *e, struct str action, bool metadata, struct buf *out,
                 struct buf *why)
{
	struct world_call a;

	if (episode_has_tools(e->world)) {
		if (episode_lists_tools(action))
			list_tools(e->world, out);
		else
			call_tool(e, JSON_GET(action, "tool_name"), JSON_GET(action, "arguments"),
			          out);
		return true;
	}
	bool acted = act(e, JSON_GET(json_first(*e->world->tools), "name"), action, &a);

	e->step_count += acted;
	if (acted)
		episode_observe(e, true, metadata, out);
	else
		buf_str(why, buf_view(&a.text));
	BUFS_RELEASE(&a.text, &a.structured);
	return acted;
}
