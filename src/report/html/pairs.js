// Two recordings compared by `diff`: pairs of rollouts, and the aligned steps of a pair. Steps without a
// partner and differences come from the data; the remaining steps are paired in order. Also the best and the worst
// rollout of a task, step by step.

const LONE = {"missing-step": 0, "extra-step": 1}; // the side that has the step

function pairsOf(recording) {
	const pairs = new Map();

	for (const rollout of recording.rollouts) {
		const pair = pairs.get(rollout.key) || {key: rollout.key, sides: [null, null], differences: []};
		pair.sides[rollout.side] = rollout;
		pairs.set(rollout.key, pair);
	}
	for (const difference of recording.results.filter((one) => one.type === "difference")) {
		pairs.get(difference.rollout)?.differences.push(difference);
	}
	return [...pairs.values()].sort((a, b) => (b.differences.length > 0) - (a.differences.length > 0));
}

function stepsOf(rollout) {
	return rollout ? rollout.items.filter((item) => item.kind === "step") : [];
}

function placeOf({turn, step}) {
	return `${turn} ${step}`;
}

// [{sides: [item or null, item or null], differences}]: those of the header first, of the end last.
function alignedRows(pair) {
	const lone = [new Set(), new Set()];
	const changed = new Map();
	const isLone = (side, item) => lone[side].has(placeOf(item));
	const [first, second] = pair.sides.map(stepsOf);
	const rows = [];
	let at = 0;

	for (const one of pair.differences.filter((any) => any.line === "step")) {
		if (one.kind in LONE) {
			lone[LONE[one.kind]].add(placeOf(one));
		} else {
			changed.set(placeOf(one), [...(changed.get(placeOf(one)) || []), one]);
		}
	}
	for (const item of first) {
		while (at < second.length && !isLone(0, item) && isLone(1, second[at])) {
			rows.push({sides: [null, second[at++]], differences: []});
		}
		const partner = isLone(0, item) ? null : second[at++] || null;
		rows.push({sides: [item, partner], differences: changed.get(placeOf(item)) || []});
	}
	rows.push(...second.slice(at).map((item) => ({sides: [null, item], differences: []})));
	return [...outside(pair, "header"), ...outside(pair, "reset"), ...rows, ...outside(pair, "end")];
}

// A difference in a line that is not a step gets a row of its own.
function outside(pair, line) {
	const differences = pair.differences.filter((one) => one.line === line);

	return differences.length ? [{line, sides: [null, null], differences}] : [];
}

// The rollouts of the highest and the lowest reward of each task in which they differ, the largest difference first.
function bestAndWorst(rollouts) {
	const groups = new Map();

	for (const one of rollouts.filter(({task, verdict}) => isGiven(task) && isGiven(verdict?.reward))) {
		groups.set(one.task, groups.get(one.task) || []).get(one.task).push(one);
	}
	const gapOf = ({sides: [best, worst]}) => best.verdict.reward - worst.verdict.reward;

	return [...groups].map(([task, all]) => {
		all.sort((a, b) => b.verdict.reward - a.verdict.reward || a.verdict.steps - b.verdict.steps);
		return {key: `${task} best-worst`, task, sides: [all[0], all.at(-1)], names: ["best", "worst"]};
	}).filter((pair) => gapOf(pair) > 0).sort((a, b) => gapOf(b) - gapOf(a));
}

const STEP_FACTS = ["call", "outcome", "effect", "change", "reward"];

function rowsByStep({sides}) {
	const [best, worst] = sides.map(stepsOf);

	return Array.from({length: Math.max(best.length, worst.length)}, (_, i) => {
		const [a, b] = [best[i] || null, worst[i] || null];
		const differ = (name) => a && b && spell(a[name] ?? null) !== spell(b[name] ?? null) && (name !== "change" || a.effect === b.effect);

		return {sides: [a, b], differences: STEP_FACTS.filter(differ).map((name) => ({pointer: name, expected: a[name], got: b[name]}))};
	});
}

function isDifferent(row) {
	return row.differences.length > 0 || (!row.line && row.sides.includes(null));
}

function briefDifference(one) {
	const value = (side) => {
		const text = isGiven(side) ? (typeof side === "string" ? side : spell(side)) : "none";
		return text.length > 40 ? `${text.slice(0, 40)}\u2026` : text;
	};

	return `${one.pointer || ""}  ${value(one.expected)} \u2192 ${value(one.got)}`.replace(/\s+/g, " ");
}

const PAIR_COLUMNS = [
	{name: "A", className: "number"},
	{name: "B", className: "number"},
	{name: "call", className: "call"},
	{name: "difference", className: "change"},
];

class PairView {
	constructor(recording, go) {
		this.recording = recording;
		this.go = go;
		this.query = "";
		this.grid = new Grid(byId("pair-rows"), {
			label: "Aligned steps",
			columns: PAIR_COLUMNS,
			rowOf: (row) => this.rowOf(row),
			onSelect: (row) => this.selected(row),
			onOpen: () => byId("pair-detail").focus(),
		});
		byId("pair-search").addEventListener("input", (event) => {
			this.query = event.target.value;
			this.draw();
		});
		byId("only-differing").addEventListener("click", () => this.setOnly(!this.only));
	}

	open(pair, number) {
		if (this.pair !== pair) {
			this.pair = pair;
			this.rows = pair.names ? rowsByStep(pair) : alignedRows(pair);
			this.names = pair.names || ["A", "B"];
			this.names.forEach((name, i) => byId("pair-rows").querySelectorAll("[role=columnheader]")[i].replaceChildren(name));
			this.query = byId("pair-search").value = "";
			byId("pair-counters").replaceChildren(...pairSummary(pair, this.names));
			this.setOnly(false);
		}
		const wanted = this.rows[number] || this.rows.find(isDifferent) || this.rows[0];
		this.quiet = true;
		this.grid.select(Math.max(0, this.grid.items.indexOf(wanted)));
		this.quiet = false;
	}

	setOnly(only) {
		this.only = only;
		byId("only-differing").setAttribute("aria-pressed", only);
		this.draw();
	}

	clear() {
		byId("pair-search").value = this.query = "";
		this.setOnly(false);
	}

	draw() {
		const matches = searcher(this.query);
		const shown = this.rows.filter((row) => (!this.only || isDifferent(row)) &&
			(!matches || matches("", `${this.callOf(row)} ${row.differences.map((one) => spell(one)).join(" ")}`)));

		byId("pair-count").textContent = `${counted(this.rows.filter(isDifferent).length, "row")} of ${this.rows.length.toLocaleString("en")} differ`;
		this.grid.setItems(shown, this.current);
	}

	callOf(row) {
		return row.line || row.sides.find(Boolean).call || "no call";
	}

	rowOf(row) {
		const alone = !row.line && row.sides.includes(null);
		const numbers = row.sides.map((item) => item ? String(item.step ?? item.turn) : row.line ? "" : "\u2013");
		const more = row.differences.length > 1 ? `, +${row.differences.length - 1} more` : "";
		const says = alone ? `only in ${this.names[row.sides[0] ? 0 : 1]}`
			: this.pair.names && row.sides[0].call !== row.sides[1].call ? `${this.names[1]}: ${row.sides[1].call || "no call"}`
			: row.differences.length ? briefDifference(row.differences[0]) + more : "equal";

		return {className: alone ? "is-failed" : row.differences.length ? "is-event" : "is-unchanged",
			cells: [...numbers, plain(this.callOf(row)), plain(says)]};
	}

	selected(row) {
		const index = this.rows.indexOf(row);
		this.current = row;
		const title = row.line || (row.sides[0] ? `step ${row.sides[0].step ?? "\u2013"}` : `step ${row.sides[1].step ?? "\u2013"} of ${this.names[1]}`);

		byId("pair-detail").replaceChildren(
			element("header", {}, element("h2", {}, element("a", {href: `#/${encodeURIComponent(this.pair.key)}/row/${index}`}, title))),
			element("p", {class: "called"}, plain(this.callOf(row))),
			...row.differences.map(differenceNode),
			row.differences.length || row.sides.includes(null) ? "" : element("p", {class: "dim"}, this.pair.names ? "the same call, with the same effect" : "equal except for masked and volatile values"),
			row.line ? "" : element("div", {class: "beside"}, ...row.sides.map((item, side) => this.side(item, side))));
		byId("pair-detail").scrollTop = 0;
		if (!this.quiet) {
			this.go(this.pair, index);
		}
	}

	side(item, side) {
		const line = item && this.recording.line(item.line);

		return element("section", {class: "part"}, element("h3", {}, this.names[side]), ...(item ? [
			element("p", {}, [item.outcome, item.effect].filter(Boolean).join(", ")),
			isGiven(line.observation) ? part("Observation", tree(line.observation)) : "",
			isGiven(line.state) ? part("State before", tree(line.state)) : "",
		] : [element("p", {class: "dim"}, "no such step")]));
	}
}

function differenceNode(one) {
	const node = element("section", {class: "part tree changes"}, element("h3", {class: "mono"}, visible(one.pointer || one.kind)));

	if (isLong(one.expected) || isLong(one.got)) {
		node.append(element("div", {class: "pair"}, isGiven(one.expected) ? longSide(one.expected, "before") : "",
			isGiven(one.got) ? longSide(one.got, "after") : ""));
	} else {
		node.append(element("del", {}, scalar(one.expected)), " \u2192 ", element("ins", {}, scalar(one.got)));
	}
	return node;
}

function pairSummary({sides, differences}, names) {
	const side = (rollout, name) => [element("b", {}, name), " ", ...(differences || !rollout ? [] : [element("a", {href: addressOf(rollout)}, plain(rollout.key)), " "]),
		...(rollout ? [...countersOf(rollout.verdict), ` \u00b7 ${rollout.verdict?.status ?? "no end"}`] : ["has no such rollout"])];

	return [element("div", {}, ...side(sides[0], names[0])), element("div", {}, ...side(sides[1], names[1])),
		element("div", {}, !differences ? "step by step" : differences.length ? counted(differences.length, "difference") : "no differences")];
}
