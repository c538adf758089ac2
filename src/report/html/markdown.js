// The Markdown of a model's messages as elements: headings, lists, quotes, code, tables as they are written, emphasis,
// and links as text with their address. HTML stays text, and nothing is loaded or can be followed.

const MARKDOWN_MOST = 50000; // characters; a longer message is shown as it is
const EMPHASIS_DEPTH = 3;

const INLINE = new RegExp([
	/(?<!`)(?<tick>`{1,3})(?!`)(?<code>.{1,1000}?)(?<!`)\k<tick>(?!`)/,
	/\\(?<escaped>[*_`#~])/,
	/!?\[(?<label>.{1,500}?)\]\((?<address>[^\s()]{1,2000})(?: "[^"]{0,500}")?\)/,
	/(?<two>\*\*|(?<!\w)__(?!\w+__)|~~)(?=\S)(?<strong>.{0,1000}?\S)\k<two>/,
	/(?<![\w*])\*(?=[^\s*])(?<star>.{0,1000}?[^\s*])\*(?![\w*])/,
	/(?<!\w)_(?=[^\s_])(?<low>.{0,1000}?[^\s_])_(?!\w)/,
].map((one) => one.source).join("|"), "g");

function inlineNode(groups, whole, depth) {
	const {code, escaped, label, address, two, strong, star, low} = groups;

	if (isGiven(code)) {
		return element("code", {}, visible(code));
	}
	if (isGiven(label)) {
		return element("span", {}, inline(label, depth + 1), element("span", {class: "dim"}, visible(` <${address}>`)));
	}
	if (isGiven(strong)) {
		return element(two === "~~" ? "s" : "strong", {}, inline(strong, depth + 1));
	}
	return isGiven(escaped) ? visible(escaped) : element("em", {}, inline(star ?? low ?? whole, depth + 1));
}

// Emphasis within emphasis ends at a depth.
function inline(text, depth = 0) {
	const nodes = document.createDocumentFragment();
	let at = 0;

	for (const found of depth < EMPHASIS_DEPTH ? text.matchAll(INLINE) : []) {
		nodes.append(visible(text.slice(at, found.index)), inlineNode(found.groups, found[0], depth));
		at = found.index + found[0].length;
	}
	nodes.append(visible(text.slice(at)));
	return nodes;
}

const ITEM = /^(\s*)([-*+]|(\d{1,9})[.)])\s+(.*)$/;

// Lists within lists by their indentation; a line that is indented continues its item.
function listNode(lines) {
	const top = element("div", {});
	const open = [{indent: -1, node: top}]; // the item that a deeper list goes into is the last child of the last list

	for (const line of lines) {
		const [, blanks, , number, text] = line.match(ITEM) || [];

		if (blanks === undefined) {
			open.at(-1).node.lastElementChild.append("\n", inline(line.trim()));
			continue;
		}
		while (open.length > 1 && blanks.length < open.at(-1).indent) {
			open.pop();
		}
		if (blanks.length > open.at(-1).indent) {
			const node = element(number ? "ol" : "ul", {});
			(open.length > 1 ? open.at(-1).node.lastElementChild : top).append(node);
			open.push({indent: blanks.length, node});
		}
		open.at(-1).node.append(element("li", {value: number}, inline(text)));
	}
	return top;
}

// In this order: how the first line of a block looks, what the lines after it look like, and the element.
const BLOCKS = [
	[/^\s*([-*_])(\s*\1){2,}\s*$/, null, () => element("hr", {})],
	[/^\s{0,3}#{1,6}\s/, null, ([line]) => element("p", {class: "heading"}, inline(line.replace(/^\s*#+\s+/, "").replace(/\s+#+\s*$/, "")))],
	[ITEM, /^\s*([-*+]|\d{1,9}[.)])\s|^\s+\S/, listNode],
	[/^\s{0,3}>/, /^\s{0,3}>/, (lines) => element("blockquote", {}, inline(lines.map((line) => line.replace(/^\s*> ?/, "")).join("\n")))],
	[/^\s*\|/, /^\s*\|/, (lines) => block(lines.join("\n"), "mono")],
];

function isFence(line) {
	return line.match(/^\s*(`{3,}|~{3,})/)?.[1];
}

// The end of the block that begins with the line at `from`, and its element.
function nextBlock(lines, from) {
	const fence = isFence(lines[from]);
	let to = from + 1;

	if (fence) {
		while (to < lines.length && !(isFence(lines[to])?.startsWith(fence) && lines[to].trim() === isFence(lines[to]))) {
			to++;
		}
		return [to + 1, block(lines.slice(from + 1, to).join("\n"), "mono code")];
	}
	const [, more, make] = BLOCKS.find(([first]) => first.test(lines[from])) || [];
	const goesOn = (line) => make ? more?.test(line) : line.trim() && !isFence(line) && !BLOCKS.some(([first]) => first.test(line));

	while (to < lines.length && goesOn(lines[to])) {
		to++;
	}
	const taken = lines.slice(from, to);
	return [to, make ? make(taken) : element("p", {}, inline(taken.join("\n")))];
}

function markdown(text) {
	const node = element("div", {class: "markdown", dir: "auto"});
	const lines = text.split(/\r?\n/);

	if (text.length > MARKDOWN_MOST || text.includes("\u001b")) {
		return block(text);
	}
	for (let at = 0, child; at < lines.length; node.append(child)) {
		[at, child] = lines[at].trim() ? nextBlock(lines, at) : [at + 1, ""];
	}
	return node;
}
