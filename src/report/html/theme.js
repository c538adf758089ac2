// Light, dark, or the system's color scheme; remembered if the browser allows storage.

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
		// storage may be denied to a page opened from a file
	}
}

function nextTheme() {
	setTheme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length]);
}
