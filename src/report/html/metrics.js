// Results of `stats`: metrics, the checklist, and metrics per task.

const TASK_METRICS = ["rollouts", "turns", "steps", "effective", "failed", "reward", "reward_std", "reward/mean", "reward/std"];

function metricValue(value) {
	return isGiven(value) ? numberOr(value, "") : "\u2013";
}

function htmlTable(head, rows) {
	return element("table", {}, element("thead", {}, element("tr", {}, ...head.map((name) => element("th", {scope: "col"}, name)))),
		element("tbody", {}, ...rows.map((cells) => element("tr", {}, ...cells.map((cell) => element("td", {}, cell))))));
}

function checklistTable(properties) {
	return htmlTable(["status", "check", "seen"], properties.map((one) => [
		element("span", {class: one.status}, one.status), one.name, plain(one.value || "")]));
}

function metricsList(metrics) {
	return element("dl", {class: "metrics"}, ...Object.entries(metrics).filter(([name, value]) => name !== "type" && value !== 0)
		.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, metricValue(value)))));
}

function taskTable(tasks) {
	const columns = TASK_METRICS.filter((name) => tasks.some((task) => isGiven(task[name])));

	return htmlTable(["task", ...columns], tasks.map((task) =>
		[plain(task.task ?? "no task"), ...columns.map((name) => metricValue(task[name]))]));
}

function drawMetrics(panel, root, results) {
	const metrics = results.find((one) => one.type === "metrics");
	const tasks = results.filter((one) => one.type === "task");

	panel.hidden = !metrics;
	if (!metrics) {
		return;
	}
	root.replaceChildren(checklistTable(results.filter((one) => one.type === "property")),
		closedPart("All metrics (except those that are 0)", () => metricsList(metrics)));
	if (tasks.length) {
		root.append(closedPart(`By task: ${counted(tasks.length, "task")}`, () => taskTable(tasks)));
	}
}
