// The view of one rollout: summary, findings, timeline, table of steps, and details of the selected one.

const STEP_COLUMNS = [
	{name: "turn", className: "number"},
	{name: "call", className: "call"},
	{name: "outcome", className: "outcome"},
	{name: "state", className: "change"},
	{name: "reward", className: "number"},
];

class RolloutView {
	constructor(recording, go) {
		this.recording = recording;
		this.go = go; // changes the URL fragment: go(rollout, item)
		this.root = byId("rollout-view");
		this.filter = {categories: new Set(), rule: "", query: ""};
		this.detail = new Detail(byId("detail"), recording);
		this.timeline = new Timeline(byId("timeline-bars"), (item) => item && this.pick(item));
		this.grid = new Grid(byId("steps"), {
			label: "Steps",
			columns: STEP_COLUMNS,
			rowOf: (item) => this.rowOf(item),
			onSelect: (item) => this.selected(item),
			onOpen: () => byId("detail").focus(),
		});
		byId("search").addEventListener("input", (event) => {
			clearTimeout(this.typing);
			this.typing = setTimeout(() => this.setFilter({query: event.target.value}), 120);
		});
		byId("rule").addEventListener("change", (event) => this.setFilter({rule: event.target.value}));
	}

	// ---- the rollout ----

	open(rollout, item) {
		if (this.rollout !== rollout) {
			this.rollout = rollout;
			this.worstAt = null;
			this.filter = {categories: new Set(), rule: "", query: ""};
			byId("search").value = "";
			this.drawSummary();
			this.drawChips();
			this.drawRules();
			byId("legend").replaceChildren(...legend(rollout.items));
			this.applyFilter();
		}
		this.pick(item || this.item(0), true);
	}

	item(index) {
		return this.rollout.items[index];
	}

	drawSummary() {
		const {rollout} = this, header = this.recording.headerOf(rollout), end = this.recording.line(rollout.end);

		byId("counters").replaceChildren(...countersOf(rollout.verdict));
		byId("ending").textContent = plain([rollout.verdict?.status, end?.reason].filter(Boolean).join(": ") || "no end was recorded");
		byId("conclusion").textContent = this.recording.rollouts.length === 1 ? plain([this.recording.conclusion.trim(), ...this.recording.notes].join("\n")) : "";
		this.drawFindings();
		byId("transcript").hidden = header?.policy?.kind !== "llm" && !this.hasMessages(rollout);
		byId("transcript").open = false;
		byId("transcript").ontoggle = () => byId("transcript-messages").replaceChildren(
			...byId("transcript").open ? [transcript(this.recording, rollout)].filter(Boolean) : []);
		byId("about").hidden = !header;
		byId("about").open = false;
		byId("about-tree").replaceChildren();
		byId("about").ontoggle = () => byId("about").open && byId("about-tree").replaceChildren(tree(header));
	}

	// In its first lines: a conversation begins there.
	hasMessages(rollout) {
		return [rollout.reset, ...rollout.items.slice(0, 5).map((item) => item.line)].some((number) =>
			this.recording.line(number)?.messages?.length > 0);
	}

	drawFindings() {
		byId("findings").replaceChildren(...this.rollout.findings.map((finding) =>
			findingButton(finding, () => this.explain(finding))));
	}

	// Selects the step where the finding begins, and shows the rule's explanation.
	explain(finding) {
		const rule = this.recording.rules.get(finding.rule);
		const item = this.rollout.items.find((one) => one.kind === "step" && isAt(finding, one));

		if (item) {
			this.pick(item);
		}
		if (rule) {
			byId("detail").prepend(element("section", {class: `finding ${finding.severity}`},
				element("span", {class: "severity"}, finding.severity), element("span", {class: "rule"}, finding.rule),
				element("span", {}, rule.title), element("p", {class: "why"}, rule.why)));
		}
	}

	// ---- filters ----

	drawChips() {
		byId("chips").replaceChildren(...CATEGORIES.map(([name, meaning]) => {
			const n = this.rollout.items.filter((item) => item.category === name).length;
			const chip = element("button", {type: "button", "aria-pressed": "false", "data-category": name},
				`${meaning === "the state changed" ? "changed" : meaning} ${n.toLocaleString("en")}`);

			chip.hidden = !n;
			chip.addEventListener("click", () => this.toggle(name));
			return chip;
		}));
	}

	drawRules() {
		const rules = [...new Set(this.rollout.findings.map((finding) => finding.rule))];

		byId("rule").hidden = !rules.length;
		byId("rule").replaceChildren(element("option", {value: ""}, "any finding or none"),
			...rules.map((rule) => element("option", {value: rule}, rule)));
	}

	toggle(category) {
		const categories = new Set(this.filter.categories);

		if (!categories.delete(category)) {
			categories.add(category);
		}
		this.setFilter({categories});
	}

	setFilter(change) {
		this.filter = {...this.filter, ...change};
		this.applyFilter();
	}

	clearFilter() {
		byId("search").value = "";
		byId("rule").value = "";
		this.setFilter({categories: new Set(), rule: "", query: ""});
	}

	applyFilter() {
		const {items} = this.rollout, shown = filterItems(this.recording, this.rollout, this.filter);
		const filtered = shown.length < items.length;

		for (const chip of byId("chips").children) {
			chip.setAttribute("aria-pressed", this.filter.categories.has(chip.dataset.category));
		}
		byId("count").textContent = filtered ? `${shown.length.toLocaleString("en")} of ${items.length.toLocaleString("en")}` :
			counted(items.length, "row");
		this.grid.setItems(shown, this.current);
		this.timeline.draw(items.filter((item) => item.kind === "step"), this.rollout, filtered ? new Set(shown) : null);
		this.timeline.pointAt(this.current);
		if (this.grid.selected >= 0) {
			this.grid.show(this.grid.selected);
		}
	}

	// ---- rows ----

	rowOf(item) {
		const turn = isGiven(item.turn) ? String(item.turn) : "";

		if (item.kind === "event") {
			return {className: "is-event", wide: true, cells: [turn, plain(`! ${item.name}${item.why ? ": " + item.why : ""}`)]};
		}
		return {className: `is-${item.category}`, cells: [
			turn, this.callCell(item), item.outcome || "",
			item.step === null ? "" : item.effect === "changed" ? item.change || "changed" : item.counted && item.change ? `(${item.change})` : item.effect,
			item.reward === null || item.reward === undefined ? "" : String(item.reward),
		].map((cell) => typeof cell === "string" ? plain(cell) : cell)};
	}

	callCell(item) {
		const severity = this.severityAt(item);
		const cell = element("span", {}, plain(item.step === null ? this.saidIn(item) : item.call || ""));

		if (severity && severity !== "info") {
			cell.prepend(element("span", {class: `flag ${severity}`, title: `finding: ${severity}`}, "\u25cf "));
		}
		return cell;
	}

	// For a turn without a call: the model's message.
	saidIn(item) {
		if (item.said === undefined) {
			const messages = this.recording.line(item.line).messages || [];
			const said = messages.find((one) => one?.role === "assistant" && typeof one.content === "string");
			item.said = said ? `\u201c${said.content.trim().slice(0, 120).replace(/\s+/g, " ")}\u201d` : "(no call)";
		}
		return item.said;
	}

	// Cached, because rows are made while scrolling.
	severityAt(item) {
		if (!this.worstAt) {
			this.worstAt = new Map();
			for (const one of this.rollout.findings.length ? this.rollout.items : []) {
				this.worstAt.set(one, worst(findingsAt(this.rollout, one)));
			}
		}
		return this.worstAt.get(item);
	}

	// ---- the selected item ----

	// A selected item is shown even if the filter hides it.
	pick(item, quietly) {
		if (!item) {
			this.current = null;
			this.detail.clear("This rollout has no steps.");
			return;
		}
		const index = this.grid.items.indexOf(item);
		if (index >= 0) {
			this.quiet = quietly;
			this.grid.select(index);
			this.quiet = false;
		} else {
			this.grid.mark(-1);
			this.selected(item);
		}
	}

	selected(item) {
		this.current = item;
		this.detail.show(this.rollout, item, addressOf(this.rollout, item), (finding) => this.explain(finding));
		this.timeline.pointAt(item);
		if (!this.quiet) {
			this.go(this.rollout, item);
		}
	}

	// Selects the next row in a direction that passes the test.
	seek(by, test) {
		for (let i = this.grid.selected + by; i >= 0 && i < this.grid.items.length; i += by) {
			if (test(this.grid.items[i])) {
				this.grid.select(i);
				return;
			}
		}
	}
}

function numberOr(value, other) {
	return value === null || value === undefined ? other : value.toLocaleString("en", {maximumFractionDigits: 6});
}

// "6 turns · 6 steps · 6 effective · 0 failed · reward 1"
function countersOf(verdict) {
	if (!verdict) {
		return [];
	}
	const parts = [
		[numberOr(verdict.turns, "?"), verdict.turns === 1 ? "turn" : "turns"],
		[numberOr(verdict.steps, "?"), verdict.steps === 1 ? "step" : "steps"],
		isGiven(verdict.effective) ? [numberOr(verdict.effective, ""), verdict.unknown ? `effective (${numberOr(verdict.unknown, "")} unknown)` : "effective"]
			: ["", verdict.steps ? "effective unknown" : "0 effective"],
		[numberOr(verdict.failed, "?"), "failed"],
	];

	return [...parts.flatMap(([n, noun]) => [element("b", {}, n), ` ${noun} \u00b7 `]),
		"reward ", element("b", {}, numberOr(verdict.reward, "unknown")),
		...(verdict.reward_valid === false ? [" (not a reward)"] : []),
		...(verdict.failure ? [" \u00b7 failure: ", element("b", {}, plain(verdict.failure))] : [])];
}
