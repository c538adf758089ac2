/* Calls as items of a Responses output, and the requests that contain them. */
#include "env/nemo_gym/nemo_gym.h"

#include "json/write.h"

#include <stdio.h>

#define PARAMS     "responses_create_params"
#define OTHER_TASK "rolldbg-other-task" /* one that no task has */

static void put_call(struct buf *out, const char *id, struct str name, struct str arguments)
{
	json_pack(out,
	          "{type:'function_call',call_id:%t,id:%t,name:%s,arguments:%s,status:'completed'}",
	          id, id, name, arguments);
}

void nemo_gym_add_call(struct env_nemo_gym *e, struct str name, struct str arguments,
                       const struct env_reply *reply)
{
	struct str output = reply->observation.p ? reply->observation
	                    : reply->raw.p       ? reply->raw
	                                         : reply->error.message;

	char id[32];

	snprintf(id, sizeof(id), "call_%d", e->calls++);
	buf_text(&e->items, e->items.n ? "," : "");
	put_call(&e->items, id, name, arguments);
	buf_char(&e->items, ',');
	json_pack(&e->items, "{type:'function_call_output',call_id:%t,output:%s}", id,
	          output.p ? output : STR(""));
}

/* The user's members, and the parameters that each request must have. Leaves the object open. */
static void begin_task(struct env_nemo_gym *e, struct json_writer *w)
{
	struct str args = e->http.conf->reset_args;

	buf_clear(&e->http.request);
	*w = jw_begin(&e->http.request);
	jw_put_members(w, args);
	if (!JSON_GET(args, PARAMS).p)
		jw_put_raw(w, PARAMS, STR("{\"input\":[]}"));
}

/* The members that the schema of a Response requires. */
static void put_response(struct json_writer *w, struct str items)
{
	jw_pack(w,
	        "response:{id:'resp_0',created_at:0,model:'rolldbg',object:'response',output:%r,"
	        "parallel_tool_calls:false,tool_choice:'auto',tools:[]}",
	        items);
}

/* The ids of the native contract; the episode's is that of the rollout. */
static void begin_native(struct env_nemo_gym *e, struct json_writer *w)
{
	struct str task = e->other_task ? STR("\"" OTHER_TASK "\"")
	                                : JSON_GET(e->http.conf->reset_args, "task_id");

	buf_clear(&e->http.request);
	*w = jw_form(&e->http.request, "{episode_id:%t,task_id:%r", e->http.conf->env_session,
	             task.p ? task : STR("\"0\""));
}

void nemo_gym_write_task(struct env_nemo_gym *e)
{
	struct str args = e->http.conf->reset_args;
	struct str data = JSON_GET(args, "task_data");
	struct json_writer w;

	if (e->style == NEMO_GYM_NATIVE) {
		begin_native(e, &w);
		jw_put_raw(&w, "task_data", data.p ? data : args.p ? args : STR("{}"));
	} else {
		begin_task(e, &w);
	}
	jw_end(&w);
}

void nemo_gym_write_step(struct env_nemo_gym *e, struct str name, struct str arguments)
{
	AUTO_BUF items = BUF(BUF_MAX_MESSAGE);
	struct str text = JSON_GET(arguments, "text");
	bool says = str_is(name, "step") && json_type(text) == JSON_STRING;
	struct json_writer w;
	char id[32];

	(void)buf_room(&items, 256 + 2 * arguments.n); /* at once */
	snprintf(id, sizeof(id), says ? "message_%d" : "call_%d", e->calls++);
	buf_char(&items, '[');
	if (says) { /* the action of environments without tools */
		json_pack(&items,
		          "{type:'message',id:%t,role:'assistant',status:'completed',"
		          "content:[{type:'output_text',text:%r,annotations:[]}]}",
		          id, text);
	} else {
		put_call(&items, id, name, arguments);
	}
	buf_char(&items, ']');
	begin_task(e, &w);
	put_response(&w, buf_view(&items));
	jw_end(&w);
}

void nemo_gym_write_verify(struct env_nemo_gym *e)
{
	AUTO_BUF items = BUF(BUF_MAX_MESSAGE);
	struct json_writer w;

	buf_char(&items, '[');
	buf_str(&items, buf_view(&e->items));
	buf_char(&items, ']');
	if (e->style == NEMO_GYM_NATIVE) {
		begin_native(e, &w);
		jw_put_object(&w, "verification_input");
		put_response(&w, buf_view(&items));
		jw_end(&w);
	} else {
		begin_task(e, &w);
		put_response(&w, buf_view(&items));
	}
	jw_end(&w);
}
