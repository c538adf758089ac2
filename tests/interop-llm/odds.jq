# The probabilities of the model of fixtures/servers/lake_model.py, and the values recorded for a turn.
def odds: {DOWN: 0.5, RIGHT: 0.25, UP: 0.125, LEFT: 0.125};
def way: .tool_call.arguments.action;
def ways: map(way);
def near($value): . - $value | fabs < 1e-3;
def tokens: .llm.logprobs.content;
# The log-probability of the token with the direction.
def decided: way as $way | tokens | map(select(.token == $way)) | if length == 1 then .[0].logprob else null end;
