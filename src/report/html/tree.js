// Values as trees, and changes between two values as a tree.

const MEMBERS_AT_ONCE = 200;
const OPEN_LEVELS = 2;

function isContainer(value) {
	return value !== null && typeof value === "object" && !(value instanceof Spelled);
}

// The JSON value contained in a string; undefined for other text.
function heldJson(text) {
	if (!/^\s*[[{]/.test(text)) {
		return undefined;
	}
	try {
		return JSON.parse(text, keepSpelling);
	} catch {
		return undefined;
	}
}

function scalar(value) {
	if (value instanceof Spelled) {
		return element("span", {class: "number"}, value.source);
	}
	if (typeof value === "string") {
		return element("span", {class: "string"}, terminalText(`"${value}"`));
	}
	return element("span", {class: value === null ? "null" : typeof value}, String(value));
}

function leaf(name, value) {
	const node = element("div", {class: "leaf"});

	if (name !== null) {
		node.append(element("span", {class: "key"}, visible(name)), ": ");
	}
	if (typeof value === "string" && (value.includes("\n") || value.length > 160)) {
		node.append(block(value));
	} else {
		node.append(scalar(value));
	}
	return node;
}

function entriesOf(value) {
	return Array.isArray(value) ? value.map((one, index) => [String(index), one]) : Object.entries(value);
}

function sizeOf(value) {
	const n = Array.isArray(value) ? value.length : Object.keys(value).length;

	return Array.isArray(value) ? `[${n}]` : `{${n}}`;
}

// The members are made when the branch is first opened.
function branch(name, value, levels) {
	const members = element("div", {class: "members"});
	const summary = element("summary", {});
	const node = element("details", {}, summary, members);
	let made = false;

	if (name !== null) {
		summary.append(element("span", {class: "key"}, visible(name)), " ");
	}
	summary.append(element("span", {class: "size"}, sizeOf(value)));
	const make = () => {
		if (!made) {
			made = true;
			addMembers(members, entriesOf(value), 0, levels - 1);
		}
	};
	node.addEventListener("toggle", () => node.open && make());
	if (levels > 0) {
		node.open = true;
		make();
	}
	return node;
}

function addMembers(members, entries, from, levels) {
	for (const [name, one] of entries.slice(from, from + MEMBERS_AT_ONCE)) {
		members.append(treeNode(name, one, levels));
	}
	const left = entries.length - from - MEMBERS_AT_ONCE;
	if (left <= 0) {
		return;
	}
	const more = element("button", {type: "button", class: "more"}, `${left.toLocaleString("en")} more`);
	more.addEventListener("click", () => {
		more.remove();
		addMembers(members, entries, from + MEMBERS_AT_ONCE, levels);
	});
	members.append(more);
}

function treeNode(name, value, levels) {
	if (isContainer(value) && entriesOf(value).length) {
		return branch(name, value, levels);
	}
	if (isContainer(value)) {
		return element("div", {class: "leaf"}, name === null ? null : element("span", {class: "key"}, visible(name)),
			name === null ? null : ": ", Array.isArray(value) ? "[]" : "{}");
	}
	return leaf(name, value);
}

// The value as a tree; a string as text, or, if it contains JSON, as that value.
function tree(value) {
	const held = typeof value === "string" ? heldJson(value) : undefined;
	const shown = held === undefined ? value : held;
	const node = element("div", {class: "tree"});

	if (isContainer(shown) && entriesOf(shown).length) {
		addMembers(node, entriesOf(shown), 0, OPEN_LEVELS - 1);
	} else if (typeof shown === "string") {
		node.append(block(shown));
	} else {
		node.append(treeNode(null, shown, OPEN_LEVELS));
	}
	return node;
}

// ---- what changed ----

function tokensOf(pointer) {
	return pointer.split("/").slice(1).map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

// The value at a JSON Pointer, or undefined. A string is parsed as JSON if a token is applied to it.
function valueAt(value, tokens) {
	for (const token of tokens) {
		const container = typeof value === "string" ? heldJson(value) : value;

		if (!isContainer(container) || !Object.hasOwn(container, token)) {
			return undefined;
		}
		value = container[token];
	}
	return value;
}

// {children: Map of token to node, change: {sign, pointer} or null}
function pointerTree(pointers) {
	const root = {children: new Map(), change: null};

	for (const pointer of pointers) {
		const sign = /^[+-]/.test(pointer) ? pointer[0] : "";
		const tokens = tokensOf(sign ? pointer.slice(1) : pointer);
		let node = root;

		for (const token of tokens) {
			if (!node.children.has(token)) {
				node.children.set(token, {children: new Map(), change: null});
			}
			node = node.children.get(token);
		}
		node.change = {sign, tokens};
	}
	return root;
}

function isLong(value) {
	return isContainer(value) || (typeof value === "string" && (value.includes("\n") || value.length > 60));
}

function longSide(value, className) {
	return typeof value === "string" ? block(value, className)
		: element("pre", {class: className}, visible(spell(value)));
}

// JSON with indentation, and numbers in their original notation.
function spell(value) {
	const spelled = [];
	const text = JSON.stringify(value, (key, one) => {
		if (one instanceof Spelled) {
			spelled.push(one.source);
			return `\ue000${spelled.length - 1}\ue001`;
		}
		return one;
	}, 2);

	return text === undefined ? "" : text.replace(/"\ue000(\d+)\ue001"/g, (all, index) => spelled[index]);
}

function changeNode(name, change, before, after) {
	const old = change.sign === "+" ? undefined : valueAt(before, change.tokens);
	const fresh = change.sign === "-" ? undefined : valueAt(after, change.tokens);
	const node = element("li", {}, element("span", {class: "key"}, visible(name)), " ");

	if (isLong(old) || isLong(fresh)) {
		node.append(element("div", {class: "pair"},
			old === undefined ? null : longSide(old, "before"), fresh === undefined ? null : longSide(fresh, "after")));
		return node;
	}
	if (old !== undefined) {
		node.append(element("del", {}, scalar(old)));
	}
	if (old !== undefined && fresh !== undefined) {
		node.append(" \u2192 ");
	}
	if (fresh !== undefined) {
		node.append(element("ins", {}, scalar(fresh)));
	}
	return node;
}

function changeList(node, before, after) {
	const list = element("ul", {});

	for (let [name, child] of node.children) {
		while (!child.change && child.children.size === 1) { // a chain is joined into one name: agent/position
			const [[next, below]] = child.children;
			name += "/" + next;
			child = below;
		}
		if (child.change) {
			list.append(changeNode(name, child.change, before, after));
		}
		if (child.children.size) {
			list.append(element("li", {}, element("span", {class: "key"}, visible(name)), changeList(child, before, after)));
		}
	}
	return list;
}

// The changed pointers of the step, with the values in both states.
function changeTree(item, before, after) {
	const root = pointerTree(item.pointers);
	const node = element("div", {class: "tree changes"});

	if (root.change) {
		node.append(element("ul", {}, changeNode("state", root.change, before, after)));
	}
	node.append(changeList(root, before, after));
	if (item.pointerCount > item.pointers.length) {
		node.append(element("p", {class: "dim"}, `${(item.pointerCount - item.pointers.length).toLocaleString("en")} more`));
	}
	return node;
}
