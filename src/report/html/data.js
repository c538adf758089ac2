// The data of the page: recorded lines, and between them facts derived from them
// (src/report/html/page.c), one JSON array per line:
//
//   ["rollout", number, line, id, file, task, side]   a rollout begins; side: which recording of a comparison
//   ["header", number, line], ["reset", ..], ["end", ..]   positions of these lines
//   ["step", number, line, turn, step, outcome, reward, call, latency in milliseconds,
//                                             tokens of the model, line after, change, pointers, number of pointers]
//   ["effects", number, letters]              of its steps, once the rollout is over: c changed, u unchanged, n counts or echoes, ? unknown
//   ["event", number, line, turn, event, why]
//   ["verdict", number or null, finding or rollout]   as in the JSON of `check`
//   ["rule", id, title, explanation], ["note", text], ["summary", totals, conclusion], ["command", name]
//   ["result", null, line]                    a JSON line of the command itself
//
// `line` counts the recorded lines of the page from 0.

// A number whose notation JavaScript would not preserve, such as 1.0 or a large integer.
class Spelled {
	constructor(source) {
		this.source = source;
	}
}

function keepSpelling(key, value, context) {
	if (typeof value === "number" && context && context.source !== undefined && String(value) !== context.source) {
		return new Spelled(context.source);
	}
	return value;
}

const LINES_KEPT = 64; // cache of parsed lines

class Recording {
	constructor(text) {
		this.lines = [];
		this.rollouts = [];
		this.rules = new Map();
		this.findings = []; // about groups and files
		this.notes = [];
		this.results = []; // results of the command itself
		this.parsed = new Map();
		this.read(text);
		this.rollouts.forEach((rollout) => rollout.items.sort((a, b) => a.line - b.line));
		this.nameRollouts();
	}

	read(text) {
		for (let at = 0; at < text.length;) {
			const end = text.indexOf("\n", at);
			const stop = end < 0 ? text.length : end;

			if (text[at] === "{") {
				this.lines.push(text.slice(at, stop));
			} else if (text[at] === "[") {
				this.take(this.row(text.slice(at, stop)));
			}
			at = stop + 1;
		}
	}

	// Differences found by `diff` contain recorded values: the notation of their numbers is preserved.
	row(text) {
		return JSON.parse(text, text.startsWith('["result",null,{"type":"difference"') ? keepSpelling : undefined);
	}

	take(row) {
		const [kind, number, ...rest] = row;
		const rollout = this.rollouts[number];

		switch (kind) {
		case "rollout":
			this.rollouts[number] = {number, id: rest[1], file: rest[2], task: rest[3], side: rest[4], items: [], findings: [], verdict: null};
			break;
		case "header":
		case "reset":
		case "end":
			rollout[kind] = rest[0];
			break;
		case "step":
			rollout.items.push(stepOf(rest));
			break;
		case "effects":
			setEffects(rollout.items.filter((item) => item.kind === "step" && item.step !== null), rest[0]);
			break;
		case "event":
			rollout.items.push({kind: "event", category: "event", line: rest[0], turn: rest[1], name: rest[2], why: rest[3]});
			break;
		case "verdict":
			this.takeVerdict(rollout, rest[0]);
			break;
		case "rule":
			this.rules.set(number, {title: rest[0], why: rest[1]});
			break;
		case "note":
			this.notes.push(number);
			break;
		case "summary":
			this.summary = number;
			[this.conclusion] = rest;
			break;
		case "command":
			this.command = number;
			break;
		case "result":
			this.results.push(rest[0]);
			break;
		}
	}

	takeVerdict(rollout, verdict) {
		if (verdict.type === "rollout") {
			rollout.verdict = verdict;
		} else {
			(rollout ? rollout.findings : this.findings).push(verdict);
		}
	}

	// Sets a unique key for links: the id, with a number if several rollouts have it.
	nameRollouts() {
		const used = new Map();

		this.compared = this.rollouts.some((rollout) => isGiven(rollout.side));
		this.manyFiles = new Set(this.rollouts.map((rollout) => rollout.file)).size > 1;
		for (const rollout of this.rollouts) {
			const name = `${rollout.side ?? ""} ${rollout.id}`;
			const times = (used.get(name) || 0) + 1;

			used.set(name, times);
			rollout.key = times > 1 ? `${rollout.id}~${times}` : rollout.id;
		}
	}

	headerOf(rollout) {
		return rollout.header === undefined ? null : this.line(rollout.header);
	}

	// A recorded line, parsed.
	line(number) {
		if (number === null || number === undefined) {
			return null;
		}
		if (!this.parsed.has(number)) {
			if (this.parsed.size >= LINES_KEPT) {
				this.parsed.delete(this.parsed.keys().next().value);
			}
			this.parsed.set(number, JSON.parse(this.lines[number], keepSpelling));
		}
		return this.parsed.get(number);
	}
}

function stepOf([line, turn, step, outcome, reward, call, latency, tokens, after, change, pointers, count]) {
	const item = {kind: "step", line, after, turn, step, outcome, effect: "unknown", reward, call, latency, tokens, change, pointers: pointers || []};

	item.pointerCount = count || item.pointers.length;
	item.category = step === null ? "talk" : outcome !== "ok" ? "failed" : "unknown";
	return item;
}

const EFFECTS = {c: "changed", u: "unchanged", n: "unknown", "?": "unknown"};

function setEffects(steps, letters) {
	steps.forEach((item, i) => {
		item.effect = EFFECTS[letters[i]] || "unknown";
		item.counted = letters[i] === "n";
		item.category = item.category === "failed" ? "failed" : item.effect;
	});
}

const CATEGORIES = [
	["changed", "the state changed"],
	["unchanged", "unchanged"],
	["unknown", "effect unknown"],
	["failed", "failed"],
	["talk", "no call sent"],
	["event", "event"],
];

// The findings at a step.
function findingsAt(rollout, item) {
	return rollout.findings.filter((finding) => isAt(finding, item));
}

function isAt(finding, item) {
	return finding.first_turn !== null && item.turn !== null && item.turn >= finding.first_turn &&
		item.turn <= (finding.last_turn === null ? finding.first_turn : finding.last_turn);
}

const SEVERITIES = ["info", "warning", "error"];

function worst(findings) {
	return findings.reduce((most, finding) =>
		SEVERITIES.indexOf(finding.severity) > SEVERITIES.indexOf(most) ? finding.severity : most, null);
}
