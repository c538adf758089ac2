// Filters items by category, by a rule's findings, and by words that must all occur in the recorded line
// or in its row of the table.

function escapedAsJson(word) {
	return JSON.stringify(word).slice(1, -1);
}

// Recorded text may contain escapes such as \u00e9, and every < is escaped in this page.
function unescaped(text) {
	return text.replace(/\\u([0-9a-fA-F]{4})/g, (all, digits) => {
		const character = String.fromCharCode(parseInt(digits, 16));

		return character < " " || character === "\"" || character === "\\" ? all : character;
	});
}

// "Words in quotes" count as one.
function wordsOf(query) {
	return [...query.toLowerCase().matchAll(/"([^"]+)"|\S+/g)].map((found) => found[1] || found[0]);
}

// Returns a predicate for an item's text.
function searcher(query) {
	const words = wordsOf(query).map((word) => [word, escapedAsJson(word)]);
	const decode = /[^\u0020-\u007e]|</.test(query);

	if (!words.length) {
		return null;
	}
	return (recorded, said) => {
		const line = (decode ? unescaped(recorded) : recorded).toLowerCase();
		const brief = said.toLowerCase();

		return words.every(([word, escaped]) => line.includes(escaped) || brief.includes(word));
	};
}

function saidOf(item) {
	return item.kind === "event" ? `${item.name} ${item.why || ""}`
		: `${item.call || ""} ${item.outcome || ""} ${item.effect || ""} ${item.change || ""} turn ${item.turn} step ${item.step}`;
}

// filter: {categories: Set, rule, query}
function filterItems(recording, rollout, filter) {
	const matches = searcher(filter.query);
	const findings = filter.rule ? rollout.findings.filter((finding) => finding.rule === filter.rule) : null;

	return rollout.items.filter((item) => {
		if (filter.categories.size && !filter.categories.has(item.category)) {
			return false;
		}
		if (findings && !findings.some((finding) => finding.first_turn === null || isAt(finding, item))) {
			return false;
		}
		return !matches || matches(recording.lines[item.line], saidOf(item));
	});
}
