// Starts the page. The URL fragment selects the view, so that each step has its own link.
//
//   #/                 all rollouts
//   #/ID               a rollout
//   #/ID/step/N, #/ID/turn/N, #/ID/event/N   a step, a turn without one, the Nth event
//   #/ID/row/N         a row of two rollouts that are compared; ID "TASK best-worst": those of a task

function addressOf(rollout, item) {
	const base = `#/${encodeURIComponent(rollout.key)}`;

	if (!item) {
		return base;
	}
	if (item.kind === "event") {
		return `${base}/event/${rollout.items.filter((one) => one.kind === "event").indexOf(item)}`;
	}
	return item.step === null ? `${base}/turn/${item.turn}` : `${base}/step/${item.step}`;
}

function itemAt(rollout, kind, number) {
	const n = Number(number);

	switch (kind) {
	case "step":
		return rollout.items.find((item) => item.kind === "step" && item.step === n);
	case "turn":
		return rollout.items.find((item) => item.kind === "step" && item.turn === n);
	case "event":
		return rollout.items.filter((item) => item.kind === "event")[n];
	default:
		return undefined;
	}
}

function decoded(text) {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

class App {
	constructor(recording) {
		this.recording = recording;
		this.entries = worstFirst(recording.compared ? pairsOf(recording) : recording.rollouts);
		recording.pairs = recording.compared ? [] : bestAndWorst(recording.rollouts);
		this.rolloutView = new RolloutView(recording, (rollout, item) => this.setAddress(addressOf(rollout, item)));
		this.pairView = new PairView(recording, (pair, row) => this.setAddress(`${addressOf(pair)}/row/${row}`));
		this.groupView = this.isGroup() ? new GroupView(recording, this.entries, (entry) => this.open(entry)) : null;
		byId("all-rollouts").addEventListener("click", () => this.openGroup());
		byId("previous-rollout").addEventListener("click", () => this.openNeighbor(-1));
		byId("next-rollout").addEventListener("click", () => this.openNeighbor(1));
		addEventListener("hashchange", () => this.follow());
		addEventListener("beforeprint", () => this.preparePrint());
		addEventListener("afterprint", () => byId("print-rows").replaceChildren());
		this.follow();
	}

	isGroup() {
		return this.entries.length !== 1 || this.recording.command === "stats";
	}

	preparePrint() {
		const {grid} = this.view();
		const all = this.where() === "rollout" ? this.rolloutView.rollout.items : this.where() === "pair" ? this.pairView.rows : this.entries;

		(grid.root.closest(".panes") || grid.root).before(byId("print-rows"));
		byId("print-rows").replaceChildren(...printedRows(grid, all.length));
	}

	// ---- URL fragments ----

	setAddress(address) {
		history.replaceState(null, "", address);
	}

	follow() {
		const [key, kind, number] = location.hash.slice(2).split("/").map(decoded);
		const entry = [...this.entries, ...this.recording.pairs].find((one) => one.key === key);

		if (!entry && this.isGroup()) {
			this.showGroup();
		} else if (this.recording.compared || entry?.names) {
			this.showPair(entry || this.entries[0], kind === "row" ? number : undefined);
		} else {
			this.showRollout(entry || this.entries[0], kind, number);
		}
	}

	openGroup() {
		if (this.groupView) {
			location.hash = "#/";
		}
	}

	open(entry) {
		location.hash = addressOf(entry);
	}

	openNeighbor(by) {
		const next = this.entries[this.entries.indexOf(this.current) + by];

		if (next) {
			this.open(next);
		}
	}

	// ---- views ----

	where() {
		return ["group", "pair", "rollout"].find((name) => !byId(`${name}-view`).hidden);
	}

	show(where, title, subtitle) {
		for (const name of ["group", "pair", "rollout"]) {
			byId(`${name}-view`).hidden = where !== name;
		}
		byId("rollout-nav").hidden = where === "group" || !this.groupView;
		byId("previous-rollout").disabled = this.entries.indexOf(this.current) <= 0;
		byId("next-rollout").disabled = this.entries.indexOf(this.current) === this.entries.length - 1;
		byId("title").textContent = plain(title);
		byId("subtitle").textContent = plain(subtitle);
		document.title = plain(`${title} \u00b7 rolldbg`);
	}

	showGroup() {
		this.show("group", this.recording.compared ? this.files().join(" \u2192 ") : counted(this.entries.length, "rollout"),
			`rolldbg ${this.recording.command}`);
		this.groupView.draw();
	}

	// The names of two recordings, or of their directories.
	files() {
		return [0, 1].map((side) => {
			const files = [...new Set(this.recording.rollouts.filter((one) => one.side === side).map((one) => one.file))];
			return files.length > 1 ? files[0].replace(/\/[^/]*$/, "/") : files[0] || "none";
		});
	}

	showPair(pair, row) {
		this.current = pair;
		this.show("pair", pair.task ?? pair.key, pair.names ? "the best and the worst rollout" : this.files().join(" \u2192 "));
		this.pairView.open(pair, row);
	}

	showRollout(rollout, kind, number) {
		this.current = rollout;
		this.show("rollout", rollout.key, subtitleOf(this.recording.headerOf(rollout)));
		this.rolloutView.open(rollout, itemAt(rollout, kind, number) || this.firstOf(rollout));
	}

	// For `check`, a rollout opens at its first finding.
	firstOf(rollout) {
		const finding = this.recording.command === "check" && rollout.findings.find((one) => one.first_turn !== null);

		return (finding && rollout.items.find((item) => isAt(finding, item))) || rollout.items[0];
	}

	// ---- for keys.js ----

	view() {
		return {group: this.groupView, pair: this.pairView, rollout: this.rolloutView}[this.where()];
	}

	grid() {
		return this.view().grid;
	}

	searchBox() {
		return byId({group: "rollout-search", pair: "pair-search", rollout: "search"}[this.where()]);
	}

	clearFilter() {
		switch (this.where()) {
		case "group":
			this.groupView.search("");
			break;
		case "pair":
			this.pairView.clear();
			break;
		default:
			this.rolloutView.clearFilter();
		}
	}

	openSelected() {
		if (this.where() !== "group") {
			byId(this.where() === "pair" ? "pair-detail" : "detail").focus();
		} else if (this.grid().selected >= 0) {
			this.open(this.grid().items[this.grid().selected]);
		}
	}
}

function stateSourceOf(kind) {
	return kind === "none" ? "no state source" : kind && `state from ${kind}`;
}

// "FrozenLake-v1 · mcp-gym · policy actions · seed 42 · state from control-plane"
function subtitleOf(header) {
	if (!header) {
		return "the header was not recorded";
	}
	return [
		header.env?.name, header.env?.protocol, header.policy?.name && `policy ${header.policy.name}`,
		isGiven(header.seed) && `seed ${spelled(header.seed)}`,
		stateSourceOf(header.state_source?.kind), header.meta?.started,
	].filter(Boolean).join(" \u00b7 ");
}

function start() {
	setTheme(storedTheme());
	byId("theme").addEventListener("click", nextTheme);
	byId("help-button").addEventListener("click", () => byId("help").showModal());
	try {
		listenToKeys(new App(new Recording(byId("data").textContent)));
	} catch (problem) {
		byId("problem").hidden = false;
		byId("problem").textContent = `This page cannot show its recording: ${problem.message}`;
		throw problem;
	}
}

start();
