// A table of any length; only its visible rows are in the document. For keyboard and screen readers
// it is a grid whose selected row is the active descendant.

const ROW_HEIGHT = 26; // --row in page.css
const ROWS_AROUND = 20;

class Grid {
	// columns: [{name, className, sort}]; rowOf(item) gives {className, cells: [text or node], wide};
	// a wide row has two cells
	constructor(root, {label, columns, rowOf, onSelect, onOpen, onSort}) {
		this.root = root;
		this.columns = columns;
		this.rowOf = rowOf;
		this.onSelect = onSelect;
		this.onOpen = onOpen;
		this.items = [];
		this.selected = -1;
		this.made = new Map();
		this.space = element("div", {class: "space", role: "rowgroup"});
		this.empty = element("p", {class: "empty"}, "Nothing matches.");
		root.setAttribute("role", "grid");
		root.setAttribute("tabindex", "0");
		root.setAttribute("aria-label", label);
		root.setAttribute("aria-colcount", columns.length);
		root.append(this.head(onSort), this.space);
		root.addEventListener("scroll", () => this.schedule(), {passive: true});
		root.addEventListener("click", (event) => this.clicked(event));
		root.addEventListener("dblclick", () => this.onOpen && this.selected >= 0 && this.onOpen(this.items[this.selected]));
		new ResizeObserver(() => this.schedule()).observe(root);
	}

	head(onSort) {
		const row = element("div", {class: "row", role: "row", "aria-rowindex": "1"});

		for (const column of this.columns) {
			const cell = element("div", {class: `cell ${column.className || ""}`, role: "columnheader"});
			if (onSort) {
				const button = element("button", {type: "button", tabindex: "-1"}, column.name);
				button.addEventListener("click", () => onSort(column));
				cell.append(button);
			} else {
				cell.append(column.name);
			}
			row.append(cell);
		}
		return element("div", {class: "head", role: "rowgroup"}, row);
	}

	setItems(items, selected) {
		this.items = items;
		this.made.forEach((node) => node.remove());
		this.made.clear();
		this.root.setAttribute("aria-rowcount", items.length + 1);
		this.space.style.height = `${items.length * ROW_HEIGHT}px`;
		this.empty.remove();
		if (!items.length) {
			this.root.append(this.empty);
		}
		this.mark(selected === undefined ? -1 : items.indexOf(selected));
		this.draw();
	}

	schedule() {
		this.waiting = this.waiting || requestAnimationFrame(() => {
			this.waiting = 0;
			this.draw();
		});
	}

	// Makes the visible rows and some around them, and removes the others.
	draw() {
		const top = this.root.scrollTop;
		const from = Math.max(0, Math.floor(top / ROW_HEIGHT) - ROWS_AROUND);
		const to = Math.min(this.items.length, Math.ceil((top + this.root.clientHeight) / ROW_HEIGHT) + ROWS_AROUND);

		for (const [index, node] of this.made) {
			if (index < from || index >= to) {
				node.remove();
				this.made.delete(index);
			}
		}
		const added = document.createDocumentFragment();
		for (let index = from; index < to; index++) {
			if (!this.made.has(index)) {
				const node = this.makeRow(index);
				this.made.set(index, node);
				added.append(node);
			}
		}
		this.space.append(added);
		this.pointAtSelected();
	}

	makeRow(index) {
		const {className, cells, wide} = this.rowOf(this.items[index]);
		const row = element("div", {class: `row ${className}`, role: "row", id: `${this.root.id}-${index}`,
			"aria-rowindex": index + 2, "aria-selected": index === this.selected});

		row.style.top = `${index * ROW_HEIGHT}px`;
		cells.forEach((cell, column) => {
			const last = wide && column === cells.length - 1;
			row.append(element("div", {role: "gridcell",
				class: `cell ${last ? "wide" : ""} ${this.columns[column].className || ""}`,
				"aria-colspan": last ? this.columns.length - column : null}, cell));
		});
		row.dataset.index = index;
		return row;
	}

	clicked(event) {
		const row = event.target.closest("[data-index]");

		if (row) {
			this.select(Number(row.dataset.index));
		}
	}

	mark(index) {
		this.made.get(this.selected)?.setAttribute("aria-selected", "false");
		this.selected = index;
		this.made.get(index)?.setAttribute("aria-selected", "true");
	}

	pointAtSelected() {
		if (this.made.has(this.selected)) {
			this.root.setAttribute("aria-activedescendant", `${this.root.id}-${this.selected}`);
		} else {
			this.root.removeAttribute("aria-activedescendant");
		}
	}

	show(index) {
		const top = index * ROW_HEIGHT, height = this.root.clientHeight - ROW_HEIGHT; // minus the sticky header

		if (top < this.root.scrollTop) {
			this.root.scrollTop = top;
		} else if (top + ROW_HEIGHT > this.root.scrollTop + height) {
			this.root.scrollTop = top + ROW_HEIGHT - height;
		}
	}

	select(index) {
		if (!this.items.length) {
			return;
		}
		const wanted = Math.max(0, Math.min(this.items.length - 1, index));
		this.mark(wanted);
		this.show(wanted);
		this.draw();
		this.onSelect?.(this.items[wanted]);
	}

	move(by) {
		this.select(this.selected < 0 ? 0 : this.selected + by);
	}

	pageLength() {
		return Math.max(1, Math.floor(this.root.clientHeight / ROW_HEIGHT) - 2);
	}
}

// ---- printing ----

const PRINTED_MOST = 2000;

// All rows of the grid as a table for printing; `all`: the number of rows without a filter.
function printedRows(grid, all) {
	const rows = grid.items.slice(0, PRINTED_MOST).map((item) => {
		const {className, cells, wide} = grid.rowOf(item);

		return element("tr", {class: className}, ...cells.map((cell, column) => element("td",
			{class: grid.columns[column].className, colspan: wide && column === cells.length - 1 ? grid.columns.length - column : null}, cell)));
	});
	const head = element("tr", {}, ...grid.columns.map((column) => element("th", {class: column.className}, column.name)));
	const left = grid.items.length - rows.length, filtered = all - grid.items.length;

	return [
		element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)),
		left > 0 ? element("p", {}, `${counted(left, "more row")} omitted: at most ${PRINTED_MOST.toLocaleString("en")} are printed.`) : "",
		filtered > 0 ? element("p", {}, `${counted(filtered, "row")} hidden by the filter.`) : "",
	];
}
