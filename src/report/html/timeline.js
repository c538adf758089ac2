// The timeline: a bar per step, or per several steps if there are many. Height and color show the
// outcome; below it are the findings and the position of the selected step.

const BARS_MOST = 300;
const BAR_WIDEST = 36; // pixels
const BAR_HEIGHT = {changed: 30, failed: 30, unknown: 20, unchanged: 12, talk: 6};
const BAR_TALLEST = 30;
const BAR_WIDTH = 0.88; // relative to its slot
const STACKED = ["changed", "unchanged", "unknown", "talk", "failed"]; // from bottom to top
const MEASURES = [["latency", "ms"], ["tokens", "completion tokens"]];
const LEAST_SHARE = 0.25;
const FLOOR = 32; // bottom of the bars; marks of findings are below

class Timeline {
	constructor(root, onPick) {
		this.root = root;
		this.onPick = onPick;
		this.items = [];
	}

	// items: steps and turns; matching: a Set of items that pass the filter, or null
	draw(items, rollout, matching) {
		const bars = Math.min(items.length, BARS_MOST);
		const svg = svgElement("svg", {viewBox: `0 0 ${Math.max(bars, 1)} 46`, preserveAspectRatio: "none", role: "img"});

		svg.setAttribute("aria-label", this.describe(items));
		svg.style.maxWidth = `${bars * BAR_WIDEST}px`;
		this.items = items;
		this.bars = bars;
		for (let bar = 0; bar < bars; bar++) {
			this.addBar(svg, bar, this.itemsOf(bar), matching);
		}
		this.addFindings(svg, rollout.findings);
		this.cursor = svgElement("rect", {class: "cursor", y: 43, height: 3, width: 1, x: -10});
		svg.append(this.cursor);
		svg.addEventListener("click", (event) => this.pickAt(svg, event));
		this.root.replaceChildren(svg, ...MEASURES.map((measure) => this.measure(...measure)).filter(Boolean));
	}

	// A row of thin bars, the highest of which is the most of any step; null if no step has that number.
	measure(name, unit) {
		const most = Math.max(0, ...this.items.map((item) => item[name] ?? 0));
		const svg = svgElement("svg", {viewBox: `0 0 ${Math.max(this.bars, 1)} 16`, preserveAspectRatio: "none", "aria-hidden": "true"});

		if (!most) {
			return null;
		}
		svg.style.maxWidth = `${this.bars * BAR_WIDEST}px`;
		for (let bar = 0; bar < this.bars; bar++) {
			const height = Math.max(0, ...this.itemsOf(bar).map((item) => item[name] ?? 0)) / most * 15;

			svg.append(svgElement("rect", {class: "bar-measure", x: bar, width: BAR_WIDTH, y: 16 - height, height}));
		}
		svg.addEventListener("click", (event) => this.pickAt(svg, event));
		return element("div", {class: "measure"}, svg,
			element("span", {class: "dim"}, `${name}: at most ${numberOr(most, "")} ${unit} a step`));
	}

	pickAt(svg, event) {
		const box = svg.getBoundingClientRect();
		const index = Math.floor((event.clientX - box.left) / box.width * this.items.length);

		this.onPick(this.items[Math.max(0, Math.min(this.items.length - 1, index))]);
	}

	describe(items) {
		const parts = CATEGORIES.map(([name, meaning]) => [items.filter((item) => item.category === name).length, meaning])
			.filter(([n]) => n).map(([n, meaning]) => `${n} ${meaning}`);

		return `Timeline of ${counted(items.length, "step")}: ${parts.join(", ")}`;
	}

	itemsOf(bar) {
		const per = this.items.length / this.bars;

		return this.items.slice(Math.floor(bar * per), Math.floor((bar + 1) * per));
	}

	// A bar for several steps is divided among their categories; failures get a minimum share, so that a
	// single one remains visible.
	addBar(svg, bar, items, matching) {
		const groups = STACKED.map((name) => [name, items.filter((item) => item.category === name)]).filter(([, these]) => these.length);
		const shares = groups.map(([name, these]) => Math.max(these.length / items.length, name === "failed" ? LEAST_SHARE : 0));
		const sum = shares.reduce((a, b) => a + b, 0);
		let y = FLOOR;

		groups.forEach(([name, these], index) => {
			const height = groups.length === 1 ? BAR_HEIGHT[name] : BAR_TALLEST * shares[index] / sum;
			const out = matching && !these.some((item) => matching.has(item));
			y -= height;
			svg.append(svgElement("rect", {class: `bar-${name}${out ? " left-out" : ""}`, x: bar, width: BAR_WIDTH, y, height}));
		});
	}

	placeOf(index) {
		return index / this.items.length * this.bars;
	}

	addFindings(svg, findings) {
		for (const finding of [...findings].reverse()) {
			const first = this.items.findIndex((item) => isAt(finding, item));
			if (first < 0) {
				continue;
			}
			const last = this.items.findLastIndex((item) => isAt(finding, item));
			svg.append(svgElement("rect", {class: `mark-${finding.severity}`, x: this.placeOf(first), y: FLOOR + 3, height: 4,
				width: Math.max(this.placeOf(last + 1) - this.placeOf(first), this.bars / 400)}));
		}
	}

	pointAt(item) {
		const index = this.items.indexOf(item);

		this.cursor?.setAttribute("x", index < 0 ? -10 : this.placeOf(index));
		this.cursor?.setAttribute("width", Math.max(this.bars / Math.max(this.items.length, 1), this.bars / 300));
	}
}

function legend(items) {
	return CATEGORIES.filter(([name]) => BAR_HEIGHT[name] && items.some((item) => item.category === name)).map(([name, meaning]) =>
		element("li", {}, element("i", {class: `swatch-${name}`}), meaning));
}
