// Puts it together: which view is open is in the address, so that each step has a link of its own.
//
//   #/                 all rollouts
//   #/ID               a rollout
//   #/ID/step/N, #/ID/turn/N, #/ID/event/N   a step, a turn without one, the Nth event

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
		this.rolloutView = new RolloutView(recording, (rollout, item) => this.setAddress(addressOf(rollout, item)));
		this.groupView = this.isGroup() ? new GroupView(recording, (rollout) => this.openRollout(rollout)) : null;
		byId("all-rollouts").addEventListener("click", () => this.openGroup());
		byId("previous-rollout").addEventListener("click", () => this.openNeighbour(-1));
		byId("next-rollout").addEventListener("click", () => this.openNeighbour(1));
		addEventListener("hashchange", () => this.follow());
		addEventListener("beforeprint", () => this.where() === "rollout" && this.rolloutView.preparePrint());
		addEventListener("afterprint", () => this.rolloutView.endPrint());
		this.follow();
	}

	isGroup() {
		return this.recording.rollouts.length !== 1;
	}

	// ---- addresses ----

	setAddress(address) {
		history.replaceState(null, "", address);
	}

	follow() {
		const [id, kind, number] = location.hash.slice(2).split("/").map(decoded);
		const rollout = this.recording.rollouts.find((one) => one.key === id);

		if (!rollout && this.isGroup()) {
			this.showGroup();
		} else {
			this.showRollout(rollout || this.recording.rollouts[0], kind, number);
		}
	}

	openGroup() {
		if (this.groupView) {
			location.hash = "#/";
		}
	}

	openRollout(rollout) {
		location.hash = addressOf(rollout);
	}

	openNeighbour(by) {
		const next = this.recording.rollouts[this.recording.rollouts.indexOf(this.rolloutView.rollout) + by];

		if (next) {
			this.openRollout(next);
		}
	}

	// ---- views ----

	where() {
		return byId("group-view").hidden ? "rollout" : "group";
	}

	show(where, title, subtitle) {
		byId("group-view").hidden = where !== "group";
		byId("rollout-view").hidden = where !== "rollout";
		byId("rollout-nav").hidden = where !== "rollout" || !this.groupView;
		byId("title").textContent = plain(title);
		byId("subtitle").textContent = plain(subtitle);
		document.title = plain(`${title} \u00b7 rolldbg`);
	}

	showGroup() {
		const {rollouts, command} = this.recording;

		this.show("group", counted(rollouts.length, "rollout"), `rolldbg ${command}`);
		this.groupView.draw();
	}

	showRollout(rollout, kind, number) {
		const index = this.recording.rollouts.indexOf(rollout);
		const header = this.recording.headerOf(rollout);

		this.show("rollout", rollout.key, subtitleOf(header));
		byId("previous-rollout").disabled = index === 0;
		byId("next-rollout").disabled = index === this.recording.rollouts.length - 1;
		this.rolloutView.open(rollout, itemAt(rollout, kind, number) || this.firstOf(rollout));
	}

	// Opened by `check`, a rollout begins where its first finding does.
	firstOf(rollout) {
		const finding = this.recording.command === "check" && rollout.findings.find((one) => one.first_turn !== null);

		return (finding && rollout.items.find((item) => isAt(finding, item))) || rollout.items[0];
	}

	// ---- for keys.js ----

	view() {
		return this.where() === "group" ? this.groupView : this.rolloutView;
	}

	grid() {
		return this.view().grid;
	}

	searchBox() {
		return byId(this.where() === "group" ? "rollout-search" : "search");
	}

	clearFilter() {
		if (this.where() === "group") {
			this.groupView.search("");
		} else {
			this.rolloutView.clearFilter();
		}
	}

	openSelected() {
		if (this.where() === "rollout") {
			byId("detail").focus();
		} else if (this.grid().selected >= 0) {
			this.openRollout(this.grid().items[this.grid().selected]);
		}
	}
}

// "FrozenLake-v1 · mcp-gym · policy actions · seed 42 · state from control-plane"
function subtitleOf(header) {
	if (!header) {
		return "the header was not recorded";
	}
	return [
		header.env?.name, header.env?.protocol, header.policy?.name && `policy ${header.policy.name}`,
		isGiven(header.seed) && `seed ${spelled(header.seed)}`,
		header.state_source?.kind && `state from ${header.state_source.kind}`, header.meta?.started,
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
