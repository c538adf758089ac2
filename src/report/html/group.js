// The view of many rollouts: a table, a chart of reward by steps, and findings by rule.

const ROLLOUT_COLUMNS = [
	{name: "rollout", value: (rollout) => rollout.key},
	{name: "status", value: (rollout) => rollout.verdict?.status || "no end"},
	{name: "failure", value: (rollout) => rollout.verdict?.failure},
	{name: "turns", className: "number", value: (rollout) => rollout.verdict?.turns},
	{name: "steps", className: "number", value: (rollout) => rollout.verdict?.steps},
	{name: "effective", className: "number", value: (rollout) => rollout.verdict?.effective},
	{name: "failed", className: "number", value: (rollout) => rollout.verdict?.failed},
	{name: "reward", className: "number", value: (rollout) => rollout.verdict?.reward},
	{name: "findings", className: "worst", value: (rollout) => rulesOf(rollout).join(", ")},
];

function rulesOf(rollout) {
	return [...new Set(rollout.findings.map((finding) => finding.rule))];
}

// For a rollout one entry per rule; for groups every finding, since each is about a different group.
function worstByRule({findings, rules}) {
	return rules ? findings : [...new Set(findings.map((finding) => finding.rule))].map((rule) =>
		({rule, severity: worst(findings.filter((finding) => finding.rule === rule))}));
}

const PAIRS_MOST = 100; // tasks

// What went wrong first: the most severe findings, failures, low rewards; of pairs the most differences.
function worstFirst(entries) {
	const keyOf = (one) => one.sides ? [-one.differences.length]
		: [-SEVERITIES.indexOf(worst(one.findings)), one.verdict?.failure ? 0 : 1, one.verdict?.reward ?? Infinity];

	return entries.map((one) => [keyOf(one), one]).sort(([a], [b]) => a.map((value, i) => value === b[i] ? 0 : value < b[i] ? -1 : 1).find(Boolean) || 0)
		.map(([, one]) => one);
}

function compareValues(a, b) {
	if (!isGiven(a) || !isGiven(b)) {
		return isGiven(a) - isGiven(b);
	}
	return typeof a === "number" ? a - b : String(a).localeCompare(String(b), "en", {numeric: true});
}

// For a comparison of two recordings.
const COMPARED_COLUMNS = [
	{name: "rollout", value: (pair) => pair.key},
	{name: "status", value: (pair) => both(pair, "status")},
	{name: "turns", className: "number", value: (pair) => both(pair, "turns")},
	{name: "steps", className: "number", value: (pair) => both(pair, "steps")},
	{name: "effective", className: "number", value: (pair) => both(pair, "effective")},
	{name: "failed", className: "number", value: (pair) => both(pair, "failed")},
	{name: "reward", className: "number", value: (pair) => both(pair, "reward")},
	{name: "differences", className: "worst", value: (pair) => pair.differences.length},
];

// "6" if both sides are equal, otherwise "6 \u2192 4".
function both({sides}, name) {
	const [a, b] = sides.map((rollout) => rollout ? rollout.verdict?.[name] ?? "?" : "\u2013");

	return a === b ? a : `${a} \u2192 ${b}`;
}

class GroupView {
	// entries: rollouts, or pairs of them
	constructor(recording, entries, go) {
		this.recording = recording;
		this.entries = entries;
		this.columns = recording.compared ? COMPARED_COLUMNS : ROLLOUT_COLUMNS;
		this.root = byId("group-view");
		byId("rollouts").classList.toggle("compared", recording.compared);
		this.query = "";
		this.grid = new Grid(byId("rollouts"), {
			label: "Rollouts",
			columns: this.columns,
			rowOf: (rollout) => this.rowOf(rollout),
			onSelect: (rollout) => {
				this.chosen = rollout;
			},
			onOpen: (rollout) => go(rollout),
			onSort: (column) => this.sortBy(column),
		});
		this.go = go;
		byId("rollout-search").addEventListener("input", (event) => this.search(event.target.value));
		byId("rollouts").addEventListener("click", (event) => {
			if (event.target.closest("[data-index]") && this.grid.selected >= 0) {
				this.go(this.grid.items[this.grid.selected]);
			}
		});
		this.drawSummary();
		byId("group-charts").hidden = recording.compared;
		if (!recording.compared) {
			drawScatter(byId("scatter"), recording.rollouts, (rollouts) => this.pick(rollouts));
			this.drawRules();
		}
		drawMetrics(byId("metrics-panel"), byId("metrics"), recording.results);
		this.draw();
	}

	drawSummary() {
		const {summary, conclusion, notes, findings, results} = this.recording;

		if (this.recording.compared) {
			const {different, rollouts} = results.find((one) => one.type === "summary");
			byId("group-counters").textContent = `${different} of ${counted(rollouts, "rollout")} differ`;
			return;
		}
		byId("group-counters").replaceChildren(element("b", {}, numberOr(summary?.rollouts, "?")), summary?.rollouts === 1 ? " rollout \u00b7 " : " rollouts \u00b7 ", ...countersOf(summary));
		byId("group-conclusion").textContent = plain([conclusion.trim(), ...notes].join("\n"));
		this.drawPairs();
		byId("group-findings").hidden = !findings.length;
		byId("group-findings").append(closedPart(`${counted(findings.length, "finding")} about groups and files`, () =>
			element("div", {class: "list"}, ...findings.map((finding) =>
				findingButton(finding, () => this.search(finding.task || finding.file || ""))))));
	}

	drawPairs() {
		const pairs = this.recording.pairs;
		const made = () => element("ul", {class: "list"}, ...pairs.slice(0, PAIRS_MOST).map((pair) =>
			element("li", {}, element("a", {href: addressOf(pair)}, plain(pair.task)),
				` reward ${pair.sides.map((one) => `${numberOr(one.verdict.reward, "")} (${plain(one.key)})`).join(" and ")}`)));

		if (pairs.length) {
			byId("group-pairs").append(closedPart(`The best and the worst side by side: ${counted(pairs.length, "task")}`, made));
			byId("group-pairs").firstElementChild.open = pairs.length === 1;
		}
	}

	// ---- findings by rule ----

	drawRules() {
		const counts = new Map();

		for (const {rule, severity} of [this.recording, ...this.recording.rollouts].flatMap(worstByRule)) {
			const one = counts.get(rule) || {n: 0, severity};
			counts.set(rule, {n: one.n + 1, severity: worst([one, {severity}])});
		}
		const most = Math.max(1, ...[...counts.values()].map((one) => one.n));
		const sorted = [...counts].sort(([, a], [, b]) => b.n - a.n);
		byId("rules").replaceChildren(...sorted.map(([rule, one]) => this.ruleBar(rule, one, most)));
		if (!sorted.length) {
			byId("rules").append(element("p", {class: "dim"}, "no findings"));
		}
	}

	ruleBar(rule, {n, severity}, most) {
		const bar = svgElement("svg", {viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true"});
		const node = element("button", {type: "button", class: "rule-bar", title: this.recording.rules.get(rule)?.title},
			element("span", {class: "rule"}, rule), element("span", {class: "count"}, n.toLocaleString("en")));

		bar.append(svgElement("rect", {class: severity, width: n / most * 100, height: 4}));
		node.append(bar);
		node.addEventListener("click", () => this.search(this.query === rule ? "" : rule));
		return node;
	}

	// ---- the table ----

	search(query) {
		this.query = query;
		byId("rollout-search").value = query;
		this.draw();
	}

	sortBy(column) {
		this.descending = this.sorted === column && !this.descending;
		this.sorted = column;
		this.draw();
	}

	// Opens a single rollout; several are shown in the table.
	pick(rollouts) {
		if (rollouts.length === 1) {
			this.go(rollouts[0]);
		} else {
			this.draw(rollouts);
		}
	}

	draw(only) {
		const words = wordsOf(this.query);
		const all = only || this.entries;
		const shown = all.filter((rollout) => {
			const text = [rollout.key, rollout.verdict?.status, rollout.task, rollout.file, ...(rollout.sides ? [] : this.rulesAt(rollout))].join(" ").toLowerCase();
			return words.every((word) => text.includes(word));
		});

		if (this.sorted) {
			shown.sort((a, b) => compareValues(this.sorted.value(a), this.sorted.value(b)) * (this.descending ? -1 : 1));
		}
		byId("rollout-count").textContent = shown.length < this.entries.length
			? `${shown.length} of ${this.entries.length}` : counted(shown.length, "rollout");
		this.grid.setItems(shown, this.chosen);
	}

	// The rules of its own findings and of those of its group.
	rulesAt(rollout) {
		if (!this.rulesByTask) {
			this.rulesByTask = new Map();
			for (const {task, rule} of this.recording.findings) {
				this.rulesByTask.set(task, [...(this.rulesByTask.get(task) || []), rule]);
			}
		}
		return [...rulesOf(rollout), ...(this.rulesByTask.get(rollout.task) || [])];
	}

	rowOf(rollout) {
		const severity = rollout.sides ? rollout.differences.length ? "error" : null : worst(rollout.findings);
		const className = severity === "error" ? "is-failed is-error" : severity === "warning" ? "is-event is-warning"
			: rollout.sides || rollout.verdict?.effective > 0 ? "is-changed" : "is-unchanged";
		const cells = this.columns.map((column) => {
			const value = column.value(rollout);
			return typeof value === "number" ? numberOr(value, "") : plain(value ?? "\u2013");
		});

		if (this.recording.manyFiles && !rollout.sides) {
			cells[0] = element("span", {}, `${cells[0]} `, element("span", {class: "dim"}, plain(rollout.file)));
		}
		return {className, cells};
	}
}

// ---- reward by steps ----

const DOTS_MOST = 2000;
const DOT_LEGEND = [["changed", "no finding"], ["unchanged", "info"], ["event", "warning"], ["failed", "error"]];
const CHART = {width: 640, height: 220, left: 44, right: 12, top: 10, bottom: 26};

function scale(values, from, to) {
	const least = Math.min(...values), most = Math.max(...values);
	const span = most - least || 1;

	return {least, most, at: (value) => most === least ? (from + to) / 2 : from + (value - least) / span * (to - from)};
}

// Rollouts with the same values share one dot, whose size shows their number.
function dotsOf(rollouts) {
	const dots = new Map();

	for (const rollout of rollouts) {
		const {steps, reward} = rollout.verdict || {};
		if (isGiven(steps) && isGiven(reward)) {
			const key = `${steps} ${reward}`;
			if (!dots.has(key)) {
				dots.set(key, {steps, reward, rollouts: []});
			}
			dots.get(key).rollouts.push(rollout);
		}
	}
	return [...dots.values()];
}

function chartText(text, x, y, anchor) {
	const node = svgElement("text", {x, y, "text-anchor": anchor});

	node.textContent = text;
	return node;
}

function drawScatter(root, rollouts, onPick) {
	const all = dotsOf(rollouts), dots = all.slice(0, DOTS_MOST);
	const {width, height, left, right, top, bottom} = CHART;

	if (!dots.length) {
		root.replaceChildren(element("p", {class: "dim"}, "no rollout has a reward"));
		return;
	}
	const x = scale(dots.map((dot) => dot.steps), left + 12, width - right - 12);
	const y = scale(dots.map((dot) => dot.reward), height - bottom - 12, top + 12);
	const svg = svgElement("svg", {viewBox: `0 0 ${width} ${height}`, role: "img"});
	svg.setAttribute("aria-label", `Rewards from ${y.least} to ${y.most} against steps from ${x.least} to ${x.most}, of ${counted(rollouts.length, "rollout")}; the table has the numbers`);
	svg.append(svgElement("path", {class: "axis", fill: "none", d: `M${left} ${top}V${height - bottom}H${width - right}`}));
	svg.append(chartText(numberOr(y.most, ""), left - 6, y.at(y.most) + 4, "end"), chartText("steps", (left + width - right) / 2, height - 6, "middle"),
		chartText(String(x.least), x.at(x.least), height - 8, "middle"));
	if (x.most > x.least) {
		svg.append(chartText(String(x.most), x.at(x.most), height - 8, "middle"));
	}
	if (y.most > y.least) {
		svg.append(chartText(numberOr(y.least, ""), left - 6, y.at(y.least) + 4, "end"));
	}
	for (const dot of dots) {
		const node = svgElement("circle", {class: `dot ${worst(dot.rollouts.flatMap((rollout) => rollout.findings)) || ""}`,
			cx: x.at(dot.steps), cy: y.at(dot.reward), r: 3.5 + Math.min(12, Math.sqrt(dot.rollouts.length))});
		const title = svgElement("title", {});
		title.textContent = `${plain(dot.rollouts.slice(0, 5).map((rollout) => rollout.key).join(", "))}${dot.rollouts.length > 5 ? ", .." : ""}: ${dot.steps} steps, reward ${dot.reward}`;
		node.append(title);
		node.addEventListener("click", () => onPick(dot.rollouts));
		svg.append(node);
	}
	root.replaceChildren(svg, element("ul", {class: "legend", "aria-label": "Colors"}, ...DOT_LEGEND.map(([swatch, meaning]) =>
		element("li", {}, element("i", {class: `swatch-${swatch}`}), meaning))));
	if (all.length > dots.length) {
		root.append(element("p", {class: "dim"}, `${all.length - dots.length} more places are not drawn`));
	}
}
