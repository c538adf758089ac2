// Elements and safe text: recorded text is only ever inserted as text nodes.

const SVG = "http://www.w3.org/2000/svg";

function byId(id) {
	return document.getElementById(id);
}

// element("p", {class: "dim"}, "text", otherNode): attributes are never recorded text, except ids.
function element(name, attributes, ...children) {
	const node = document.createElement(name);

	for (const [key, value] of Object.entries(attributes || {})) {
		if (value !== undefined && value !== null) {
			node.setAttribute(key, value);
		}
	}
	node.append(...children.filter((child) => child !== null && child !== undefined));
	return node;
}

function svgElement(name, attributes) {
	const node = document.createElementNS(SVG, name);

	for (const [key, value] of Object.entries(attributes)) {
		node.setAttribute(key, value);
	}
	return node;
}

// Characters that are invisible or affect the surrounding text: control characters, bidirectional marks,
// zero-width characters, lone surrogates. A joiner between two emoji is kept.
const UNSEEN = new RegExp("[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5" +
	"\\u180b-\\u180e\\u200b\\u200c\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb]" +
	"|(?<![\\p{Extended_Pictographic}\\ufe0f])\\u200d|\\u200d(?!\\p{Extended_Pictographic})" +
	"|[\\u{e0000}-\\u{e0fff}]|[\\ud800-\\udfff]", "gu");

function codePoint(character) {
	return "U+" + character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
}

// The text with each such character replaced by a visible mark.
function plain(text) {
	return text.replace(UNSEEN, (character) => "\u2039" + codePoint(character) + "\u203a");
}

// The same as nodes: each mark is an element.
function visible(text) {
	const nodes = document.createDocumentFragment();
	let at = 0;

	for (const found of text.matchAll(UNSEEN)) {
		nodes.append(text.slice(at, found.index));
		nodes.append(element("span", {class: "control"}, codePoint(found[0])));
		at = found.index + found[0].length;
	}
	nodes.append(text.slice(at));
	return nodes;
}

// Text drawn with terminal colors (Gymnasium's text environments): colored parts are marked, other
// escape sequences are made visible.
function terminalText(text) {
	const nodes = document.createDocumentFragment();
	const colors = /\u001b\[([0-9;]*)m/g;
	let at = 0, marked = false;

	const add = (part) => part && nodes.append(marked ? element("mark", {}, visible(part)) : visible(part));
	for (const found of text.matchAll(colors)) {
		add(text.slice(at, found.index));
		marked = found[1].split(";").some((code) => Number(code) >= 30);
		at = found.index + found[0].length;
	}
	add(text.slice(at));
	return nodes;
}

const LONG = 4000; // characters shown at once

// A block of text; long text is shown in parts, on click.
function block(text, className) {
	const pre = element("pre", {class: className, dir: "auto"});
	let shown = 0;

	const show = (count) => {
		pre.append(terminalText(text.slice(shown, shown + count)));
		shown += count;
	};
	show(LONG);
	if (shown >= text.length) {
		return pre;
	}
	const more = element("button", {type: "button", class: "more"});
	const label = () => {
		more.textContent = `show more: ${(text.length - shown).toLocaleString("en")} characters`;
	};
	more.addEventListener("click", () => {
		show(LONG * 16);
		label();
		more.hidden = shown >= text.length;
	});
	label();
	return element("div", {}, pre, more);
}

function counted(n, noun) {
	return `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
}
