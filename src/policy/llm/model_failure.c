/* Classifies error responses of model servers: see model_failure.h. The formats are those of OpenAI,
   vLLM (old and new), FastAPI, gateways, Anthropic, and proxies' HTML. */
#include "policy/llm/model_failure.h"

#include "base/html.h"
#include "base/text.h"
#include "json/scan.h"

#define MESSAGE_MAX ((size_t)1024)

static const struct {
	const char *name;
	unsigned retries; /* at most; UINT_MAX in effect: as configured */
	bool refused;
} classes[] = {
	[CHAT_TRANSPORT] = {"transport", ~0u, false},
	[CHAT_RATE_LIMIT] = {"rate-limit", ~0u, false},
	[CHAT_QUOTA] = {"quota", 0, true},
	[CHAT_OVERLOAD] = {"overload", ~0u, false},
	[CHAT_SERVER] = {"server", 2, false},
	[CHAT_POISON] = {"poison-history", 0, true},
	[CHAT_AUTH] = {"auth", 0, true},
	[CHAT_CONTEXT] = {"context-length", 0, true},
	[CHAT_REQUEST] = {"request", 0, true},
	[CHAT_PROTOCOL] = {"protocol", 1, true},
};

const char *chat_failure_name(enum chat_failure_class c)
{
	return classes[c].name;
}

unsigned chat_failure_retries(enum chat_failure_class c, uint64_t configured)
{
	return classes[c].retries < configured ? classes[c].retries : (unsigned)configured;
}

bool chat_failure_refused(enum chat_failure_class c)
{
	return classes[c].refused;
}

void chat_failure_init(struct chat_failure *f)
{
	*f = (struct chat_failure){
		.message = BUF(MESSAGE_MAX), .code = BUF(MESSAGE_MAX), .param = BUF(MESSAGE_MAX)};
}

void chat_failure_release(struct chat_failure *f)
{
	BUFS_RELEASE(&f->message, &f->code, &f->param);
}

static void clear(struct chat_failure *f)
{
	f->status = 0;
	f->context = f->prompt = 0;
	buf_clear(&f->message);
	buf_clear(&f->code);
	buf_clear(&f->param);
}

void chat_failure_copy(struct chat_failure *to, const struct chat_failure *from)
{
	clear(to);
	to->class = from->class;
	to->status = from->status;
	to->context = from->context;
	to->prompt = from->prompt;
	buf_str(&to->message, buf_view(&from->message));
	buf_str(&to->code, buf_view(&from->code));
	buf_str(&to->param, buf_view(&from->param));
}

static void keep_message(struct chat_failure *f, struct str text)
{
	buf_str(&f->message, text_utf8_cut(text, MESSAGE_MAX));
}

/* ---- finding the message ---- */

static void keep_string(struct chat_failure *f, struct str string)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);

	json_decode(string, &text);
	keep_message(f, buf_view(&text));
}

/* FastAPI: "detail" is a string, or a list of {"loc","msg"}. */
static struct str first_detail(struct str body)
{
	struct str detail = JSON_GET(body, "detail"), first = json_first(detail);

	return first.p ? JSON_GET(first, "msg") : detail;
}

/* OpenAI: "param"; FastAPI: the end of the first "loc", after "body". */
static void read_param(struct chat_failure *f, struct str holder, struct str body)
{
	struct str param = JSON_GET(holder, "param"), each;
	struct str place = JSON_GET(json_first(JSON_GET(body, "detail")), "loc");

	for (size_t cursor = 0; json_next(place, &cursor, &each);)
		param = json_is(each, STR("body")) ? param : each;
	if (json_type(param) == JSON_STRING)
		json_decode(param, &f->param);
}

/* For a reply without a message: its status, and the error's name if there is one. */
static void describe_unexplained(struct chat_failure *f)
{
	struct str name = buf_view(&f->code);

	if (f->message.n)
		return;
	if (f->status == 200)
		buf_text(&f->message, "an error without an explanation");
	else
		buf_printf(&f->message, "HTTP %d without an explanation", f->status);
	if (json_type(name) == JSON_STRING) {
		buf_text(&f->message, " (");
		keep_string(f, name);
		buf_char(&f->message, ')');
	}
}

static void read_body(struct chat_failure *f, struct str body)
{
	struct str error = JSON_GET(body, "error");
	struct str holder = json_type(error) == JSON_OBJECT ? error : body;
	struct str candidates[] = {JSON_GET(holder, "message"), error, JSON_GET(body, "message"),
	                           first_detail(body)};
	struct str code = JSON_GET(holder, "code");

	for (size_t i = 0; i < ARRAY_LEN(candidates) && !f->message.n; i++)
		if (json_type(candidates[i]) == JSON_STRING)
			keep_string(f, candidates[i]);
	if (!f->message.n && json_type(candidates[0]) != JSON_STRING)
		keep_message(f, body); /* of no known format */
	read_param(f, holder, body);
	/* gateways: code is the status, the error's name is in another member */
	if (json_is_null(code) || json_is(JSON_GET(holder, "type"), STR("insufficient_quota")))
		code = JSON_GET(holder, "type");
	if (!json_is_null(code) && code.n < MESSAGE_MAX)
		buf_str(&f->code, code);
}

/* ---- classification ---- */

/* Messages about an exceeded context: OpenAI, vLLM, llama.cpp, Ollama, TGI, SGLang, TensorRT-LLM,
   LM Studio, Anthropic, Gemini, Bedrock, Cohere, xAI and gateways. */
static const char *const context_texts[] = {
	"*context_length_exceeded*",
	"*maximum context length*",
	"*exceed_context_size*",
	"*prompt too long*",
	"*prompt is too long*",
	"*nput is too long for requested model*",
	"*longer than the maximum*",
	"*max_tokens must be at least 1, got -*",
	"*exceeds the available context size*",
	"*longer than the model's context length*",
	"*exceeds the context length*",
	"*exceed context limit*",
	"*greater than the context length*",
	"*context length of only * tokens*",
	"*`max_new_tokens` must be <=*",
	"*`inputs` must have less than * tokens*",
	"*tokens in the prompt cannot exceed*",
	"*nput token count*exceeds the maximum*",
	"*prompt token count*exceeds the limit*",
	"*maximum prompt length is*",
	"*default_max_tokens*should be greater than 0*",
	"*should not exceed max_num_tokens*",
};

static bool about_context(const struct chat_failure *f)
{
	for (size_t i = 0; i < ARRAY_LEN(context_texts); i++) {
		struct str pattern = str_from(context_texts[i]);

		if (text_glob(pattern, buf_view(&f->message)) ||
		    text_glob(pattern, buf_view(&f->code))) {
			return true;
		}
	}
	return false;
}

/* The number directly after the words, or before them; 0: not found. */
static uint64_t number_at(const struct buf *text, const char *words, bool before)
{
	const char *all = buf_cstr(text), *at = strstr(all, words), *end = at;
	uint64_t value = 0;

	if (!at)
		return 0;
	if (before) {
		while (at > all && at[-1] >= '0' && at[-1] <= '9')
			at--;
	} else {
		at += strlen(words);
		end = at + strspn(at, "0123456789");
	}
	return text_u64((struct str){at, (size_t)(end - at)}, &value) ? value : 0;
}

struct number_place {
	const char *words;
	bool before;
};

/* The first number that is there. */
static uint64_t number_of(const struct buf *text, const struct number_place *places, size_t count)
{
	uint64_t value = 0;

	for (size_t i = 0; i < count && !value; i++)
		value = number_at(text, places[i].words, places[i].before);
	return value;
}

static const struct number_place context_places[] = {{"maximum context length is ", false},
                                                     {"maximum context length of ", false},
                                                     {"`max_new_tokens` must be <= ", false}};
static const struct number_place prompt_places[] = {{"prompt contains at least ", false},
                                                    {" tokens from the input messages", true},
                                                    {". Given: ", false}};

/* vLLM, SGLang and TGI report the prompt's tokens; OpenAI and compatible servers report the total
   requested and the part for the completion. */
static uint64_t prompt_tokens(const struct buf *text)
{
	uint64_t named = number_of(text, prompt_places, ARRAY_LEN(prompt_places));
	uint64_t all = number_at(text, " tokens (", true);
	uint64_t reply = number_at(text, " in the completion", true);

	return named || reply > all ? named : all - reply;
}

/* Codes and types that OpenAI, Anthropic and gateways send in place of a status. */
static const struct {
	const char *word;
	int status;
} words[] = {
	{"*rate_limit*", 429},          {"*insufficient_quota*", 429},
	{"*overloaded*", 529},          {"*timeout*", 504},
	{"*unavailable*", 503},         {"*invalid_api_key*", 401},
	{"*authentication*", 401},      {"*permission*", 403},
	{"*not_found*", 404},           {"*invalid_request*", 400},
	{"*BadRequest*", 400},          {"*server_error*", 500},
	{"*InternalServerError*", 500}, {"*api_error*", 500},
};

/* The HTTP status for a code; 0: none. */
static int status_of(struct str code)
{
	uint64_t number;
	struct str digits = json_type(code) == JSON_STRING ? json_inner(code) : code;

	if (text_u64(digits, &number) && number >= 400 && number <= 599)
		return (int)number;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (text_glob(str_from(words[i].word), code))
			return words[i].status;
	return 0;
}

static enum chat_failure_class class_of(const struct chat_failure *f, int status)
{
	switch (status) {
	case 401:
	case 403:
		return CHAT_AUTH;
	case 408:
	case 409:
	case 425:
		return CHAT_TRANSPORT;
	case 429:
		return text_glob(STR("*insufficient_quota*"), buf_view(&f->code)) ? CHAT_QUOTA
		                                                                  : CHAT_RATE_LIMIT;
	case 502:
	case 503:
	case 504:
	case 529:
		return CHAT_OVERLOAD;
	default:
		break;
	}
	if (status < 500 || about_context(f))
		return about_context(f) ? CHAT_CONTEXT : CHAT_REQUEST;
	return CHAT_SERVER;
}

static void classify(struct chat_failure *f, int status)
{
	f->class = class_of(f, status);
	if (f->class == CHAT_CONTEXT) {
		f->context = number_of(&f->message, context_places, ARRAY_LEN(context_places));
		f->prompt = prompt_tokens(&f->message);
	}
}

void chat_failure_in_body(struct chat_failure *f, int fallback, struct str body)
{
	struct str error = JSON_GET(body, "error");
	struct str holder = json_type(error) == JSON_OBJECT ? error : body;
	int status = status_of(JSON_GET(holder, "code"));

	clear(f);
	f->status = 200;
	read_body(f, body);
	describe_unexplained(f);
	status = status ? status : status_of(JSON_GET(holder, "status"));
	status = status ? status : status_of(JSON_GET(holder, "type"));
	classify(f, status ? status : fallback);
}

/* A web page with a gateway's status is about the gateway; any other page means a wrong URL. */
static void explain_page(struct chat_failure *f, int status, struct str body)
{
	buf_printf(&f->message, "HTTP %d, ", status);
	html_summary(body, &f->message);
	buf_text(&f->message,
	         status == 413 || status == 429 || status >= 500 ? "" : ": not a model API?");
}

void chat_failure_from_reply(struct chat_failure *f, int status, struct str media, struct str body)
{
	bool html = str_eq_nocase(media, STR("text/html"));

	clear(f);
	body = text_trim(body);
	html = html || html_is_page(body);
	f->status = status;
	if (!html && body.n && json_is_valid(body))
		read_body(f, body);
	else if (html)
		explain_page(f, status, body);
	else if (body.n)
		keep_message(f, body);
	describe_unexplained(f);
	classify(f, status);
}

/* The query string is left out: it may contain a secret. */
void chat_failure_redirected(struct chat_failure *f, struct str location)
{
	const char *query = location.n ? memchr(location.p, '?', location.n) : NULL;

	if (query)
		location.n = (size_t)(query - location.p);
	if (location.n) {
		buf_clear(&f->message);
		buf_printf(&f->message, "HTTP %d: redirected to ", f->status);
		text_escape_cut(&f->message, location, 300);
		buf_text(&f->message, " (redirects are not followed)");
	}
}

void chat_failure_from_error(struct chat_failure *f, const struct error *e)
{
	clear(f);
	f->class = e->kind == FAIL_PROTOCOL ? CHAT_PROTOCOL : CHAT_TRANSPORT;
	keep_message(f, str_from(e->text));
}
