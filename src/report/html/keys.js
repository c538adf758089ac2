// Keyboard commands: one table for the key handler and the help.

// [keys, description, where: "rollout", "open" (a rollout or pair), "both" (these and the group), action(app)]
const KEYS = [
	[["j", "ArrowDown"], "next row", "both", (app) => app.grid().move(1)],
	[["k", "ArrowUp"], "previous row", "both", (app) => app.grid().move(-1)],
	[["g", "Home"], "first row", "both", (app) => app.grid().select(0)],
	[["G", "End"], "last row", "both", (app) => app.grid().select(Infinity)],
	[["PageDown"], "a page down", "both", (app) => app.grid().move(app.grid().pageLength())],
	[["PageUp"], "a page up", "both", (app) => app.grid().move(-app.grid().pageLength())],
	[["e"], "next step that changed the state", "rollout", (app) => app.rolloutView.seek(1, (item) => item.category === "changed")],
	[["f"], "next failed step", "rollout", (app) => app.rolloutView.seek(1, (item) => item.category === "failed")],
	[["F"], "previous failed step", "rollout", (app) => app.rolloutView.seek(-1, (item) => item.category === "failed")],
	[["Enter"], "open: the rollout, or the step's details", "both", (app) => app.openSelected()],
	[["/"], "search", "both", (app) => app.searchBox().focus()],
	[["Escape"], "clear the search and filters", "both", (app) => app.clearFilter()],
	[["["], "previous rollout", "open", (app) => app.openNeighbor(-1)],
	[["]"], "next rollout", "open", (app) => app.openNeighbor(1)],
	[["u"], "all rollouts", "open", (app) => app.openGroup()],
	[["t"], "light, dark or system colors", "both", () => nextTheme()],
	[["?"], "this help", "both", () => byId("help").showModal()],
];

const KEY_NAMES = {ArrowDown: "\u2193", ArrowUp: "\u2191", PageDown: "Page Down", PageUp: "Page Up", Escape: "Esc"};

function isTyping(target) {
	return target.matches("input, select, textarea");
}

function listenToKeys(app) {
	document.addEventListener("keydown", (event) => {
		if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) {
			return;
		}
		if (isTyping(event.target)) {
			leaveSearch(app, event);
			return;
		}
		// focused buttons and links use Enter themselves; the details pane scrolls
		if (event.key === "Enter" && event.target.matches("button, a, summary")) {
			return;
		}
		if (event.target.matches(".detail") && /^(Arrow|Page|Home|End)/.test(event.key)) {
			return;
		}
		const row = KEYS.find(([keys, , where]) => keys.includes(event.key) && (where === "both" || where === app.where() || (where === "open" && app.where() !== "group")));
		if (row) {
			event.preventDefault();
			row[3](app);
		}
	});
	byId("keys").replaceChildren(...KEYS.flatMap(([keys, what]) => [
		element("dt", {}, ...keys.flatMap((key, index) => [index ? " " : "", element("kbd", {}, KEY_NAMES[key] || key)])),
		element("dd", {}, what),
	]));
}

function leaveSearch(app, event) {
	if (event.key === "Escape") {
		app.clearFilter();
	}
	if (event.key === "Escape" || (event.key === "Enter" && event.target.type === "search")) {
		event.preventDefault();
		app.grid().root.focus();
		if (app.grid().selected < 0) {
			app.grid().move(0);
		}
	}
}
