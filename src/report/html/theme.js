// Light, dark, or as the system has it; remembered where the browser lets a file remember.

const THEMES = ["system", "light", "dark"];

function storedTheme() {
	try {
		return localStorage.getItem("rolldbg-theme");
	} catch {
		return null;
	}
}

function setTheme(theme) {
	const wanted = THEMES.includes(theme) ? theme : "system";

	document.documentElement.dataset.theme = wanted;
	byId("theme").textContent = `Theme: ${wanted}`;
	try {
		localStorage.setItem("rolldbg-theme", wanted);
	} catch {
		// a page opened from a file may be refused a store
	}
}

function nextTheme() {
	setTheme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length]);
}
