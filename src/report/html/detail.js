// The details of the selected step: the call and its outcome, what changed, the reply with its images,
// the states, and, for a model's rollout, the conversation.

function part(title, ...content) {
	return element("section", {class: "part"}, element("h3", {}, title), ...content);
}

// The content is made when the part is first opened.
function closedPart(title, make) {
	const node = element("details", {class: "part"}, element("summary", {}, title));
	let made = false;

	node.addEventListener("toggle", () => {
		if (node.open && !made) {
			made = true;
			node.append(make());
		}
	});
	return node;
}

function badge(text, className) {
	return element("span", {class: `badge ${className}`}, visible(text));
}

function spelled(value) {
	return value instanceof Spelled ? value.source : String(value);
}

function isGiven(value) {
	return value !== null && value !== undefined;
}

class Detail {
	constructor(root, recording) {
		this.root = root;
		this.recording = recording;
	}

	show(rollout, item, link, explain) {
		const line = this.recording.line(item.line);
		const children = item.kind === "event" ? this.event(item, line, link) : this.step(rollout, item, line, link, explain);

		this.root.replaceChildren(...children.filter(Boolean));
		this.root.scrollTop = 0;
	}

	clear(text) {
		this.root.replaceChildren(element("p", {class: "dim"}, text));
	}

	event(item, line, link) {
		return [
			element("header", {}, element("h2", {}, element("a", {href: link, title: "Link to this event"}, "event ", visible(item.name))),
				isGiven(item.turn) ? element("span", {class: "dim"}, `turn ${item.turn}`) : null),
			item.why ? element("p", {}, visible(item.why)) : null,
			isGiven(line.detail) ? part("Detail", tree(line.detail)) : null,
			this.raw(item.line),
		];
	}

	step(rollout, item, line, link, explain) {
		const after = this.recording.line(item.after);
		const conversation = this.conversation(rollout, item, line);
		const facts = element("div", {}, ...[
			this.changes(item, line, after),
			this.error(line),
			this.reply(item, line),
			this.states(item, line, after),
		].filter(Boolean));

		return [
			this.heading(item, line, link),
			element("p", {class: "called"}, item.call ? plain(item.call) : "no call"),
			...findingsAt(rollout, item).map((finding) => findingButton(finding, () => explain(finding))),
			conversation ? element("div", {class: "beside"}, conversation, facts) : facts,
			isContainer(line.tool_call?.arguments) ? part("Arguments", tree(line.tool_call.arguments)) : null,
			isGiven(line.llm) ? closedPart("Model", () => tree(line.llm)) : null,
			isGiven(line.meta) ? closedPart("Meta", () => tree(line.meta)) : null,
			this.raw(item.line),
		];
	}

	heading(item, line, link) {
		const name = item.step === null ? `turn ${item.turn}` : `turn ${item.turn} \u00b7 step ${item.step}`;
		const header = element("header", {}, element("h2", {}, element("a", {href: link, title: "Link to this step"}, name)));

		if (item.outcome) {
			header.append(badge(item.outcome, item.outcome === "ok" ? "plain" : "failed"));
		}
		if (item.effect) {
			header.append(badge(item.counted ? "only counts" : item.effect === "unknown" ? "effect unknown" : item.effect, item.effect));
		}
		if (isGiven(line.reward)) {
			header.append(badge(`reward ${spelled(line.reward)}`, "plain"));
		}
		for (const end of ["terminated", "truncated"]) {
			if (line[end] === true) {
				header.append(badge(end, "plain"));
			}
		}
		return header;
	}

	changes(item, line, after) {
		if (item.effect !== "unchanged" && item.pointers.length && after) {
			return part("Changed", changeTree(item, line.state, after.state));
		}
		return null;
	}

	error(line) {
		return isGiven(line.error) ? part("Error", tree(line.error)) : null;
	}

	reply(item, line) {
		const what = `the observation of step ${item.step}`;
		const images = imageStrip([line.observation, line.structured].filter(isGiven), what);
		const node = part("Observation", ...[
			images,
			isGiven(line.observation) ? tree(images ? withoutImages(line.observation) : line.observation) : null,
		].filter(Boolean));

		for (const [name, value] of [["structured", line.structured], ["raw", line.raw], ["raw_base64", line.raw_base64]]) {
			if (isGiven(value)) {
				node.append(element("h3", {}, name), tree(images ? withoutImages(value) : value));
			}
		}
		return node.childElementCount > 1 ? node : null;
	}

	states(item, line, after) {
		if (item.step === null) {
			return isGiven(line.state) ? part("State", tree(line.state)) : null;
		}
		const node = element("div", {});
		node.append(part("State before", isGiven(line.state) ? tree(withoutImages(line.state)) : element("p", {class: "dim"}, "unknown")));
		if (item.effect === "unchanged" || !isGiven(after?.state)) {
			node.append(part("State after", element("p", {class: "dim"}, item.effect === "unchanged" ? "unchanged" : "unknown")));
		} else {
			node.append(closedPart("State after", () => tree(withoutImages(after.state))));
		}
		return node;
	}

	// The messages added by this turn; earlier ones are in a closed part.
	conversation(rollout, item, line) {
		const now = line.messages || [];
		const before = rollout.items.filter((one) => one.kind === "step" && one.line < item.line);
		const reset = this.recording.line(rollout.reset);

		if (!now.length && !(reset?.messages || []).length) {
			return null;
		}
		const node = part("Conversation");
		node.append(closedPart("before this turn", () => {
			const all = element("div", {});
			const turns = before.slice(-MESSAGES_BEFORE);

			if (before.length > turns.length) {
				all.append(element("p", {class: "dim"}, `${counted(before.length - turns.length, "earlier turn")} omitted`));
			}
			for (const one of [reset, ...turns.map((turn) => this.recording.line(turn.line))]) {
				all.append(...(one?.messages || []).map(message));
			}
			return all;
		}), ...now.map(message));
		if (!now.length) {
			node.append(element("p", {class: "dim"}, "this turn added nothing"));
		}
		return node;
	}

	raw(number) {
		return closedPart("Recorded line", () => block(spell(this.recording.line(number)), "mono"));
	}
}

const MESSAGES_BEFORE = 100;
const TRANSCRIPT_MOST = 1000; // turns

// All messages of a rollout, each turn with a link to its step; null: none was recorded.
function transcript(recording, rollout) {
	const steps = rollout.items.filter((item) => item.kind === "step");
	const messagesOf = (number) => (recording.line(number)?.messages || []).map(message);
	const all = element("div", {class: "list"}, ...messagesOf(rollout.reset));

	for (const item of steps.slice(0, TRANSCRIPT_MOST)) {
		const messages = messagesOf(item.line);

		if (messages.length) {
			all.append(element("div", {class: "role"}, element("a", {href: addressOf(rollout, item)}, `turn ${item.turn}`)), ...messages);
		}
	}
	if (steps.length > TRANSCRIPT_MOST) {
		all.append(element("p", {class: "dim"}, `${counted(steps.length - TRANSCRIPT_MOST, "later turn")} omitted`));
	}
	return all.childElementCount ? all : null;
}
const ROLES = ["system", "user", "assistant", "tool"];

// put: makes the element of a text.
function contentNode(content, put = block) {
	if (typeof content === "string") {
		return content ? put(content) : null;
	}
	if (Array.isArray(content)) {
		return element("div", {}, ...content.map((one) => contentPart(one, put)));
	}
	return isGiven(content) ? tree(content) : null;
}

// One part of a message: those of OpenAI's and Anthropic's APIs.
function contentPart(one, put) {
	switch (one?.type) {
	case "tool_use":
	case "function_call":
		return toolCallNode({name: one.name, arguments: one.input ?? one.arguments});
	case "tool_result":
	case "function_call_output":
		return contentNode(one.content ?? one.output) || block("");
	case "thinking":
	case "reasoning":
		return closedPart("reasoning", () => contentNode(one.thinking ?? one.content ?? one.summary) || block(""));
	default:
		return typeof one?.text === "string" ? put(one.text) : imageStrip([one], "a message") || tree(one);
	}
}

const PART_ROLES = {function_call: "assistant", reasoning: "assistant", function_call_output: "tool"};

// Some logs keep a call as text.
function parsedCall(call) {
	try {
		return typeof call === "string" ? JSON.parse(call) : call;
	} catch {
		return {name: call, arguments: ""};
	}
}

function toolCallNode(call) {
	const whole = parsedCall(call), made = whole?.function || whole;
	const given = typeof made?.arguments === "string" ? made.arguments : spell(made?.arguments ?? null);

	return block(`${made?.name ?? "?"}(${given})`, "mono");
}

function message(one) {
	if (!isContainer(one)) {
		return element("div", {class: "message"}, tree(one));
	}
	if (!isGiven(one.role) && PART_ROLES[one.type]) {
		return message({role: PART_ROLES[one.type], content: [one]});
	}
	const {role, content, tool_calls: calls, ...rest} = one;
	const node = element("div", {class: `message ${ROLES.includes(role) ? role : ""}`},
		element("div", {class: "role"}, visible(String(role ?? "message"))));
	const shown = contentNode(content, role === "assistant" ? markdown : block);

	if (typeof rest.reasoning_content === "string") {
		const thought = rest.reasoning_content;
		delete rest.reasoning_content;
		node.append(closedPart("reasoning", () => block(thought)));
	}
	if (shown) {
		node.append(shown);
	}
	node.append(...(Array.isArray(calls) ? calls : []).map(toolCallNode));
	if (Object.keys(rest).length) {
		node.append(closedPart("more", () => tree(rest)));
	}
	return node;
}

function findingButton(finding, onClick) {
	const turns = finding.first_turn === null ? "" : finding.last_turn === null || finding.first_turn === finding.last_turn
		? `turn ${finding.first_turn}: ` : `turns ${finding.first_turn}-${finding.last_turn}: `;
	const node = element("button", {type: "button", class: `finding ${finding.severity}`},
		element("span", {class: "severity"}, finding.severity), element("span", {class: "rule"}, finding.rule),
		element("span", {}, turns, visible(finding.message),
			finding.cause ? element("span", {class: "dim"}, ` (explained by ${finding.cause})`) : null));

	node.addEventListener("click", onClick);
	return node;
}
