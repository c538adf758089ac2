// Images in observations: MCP content parts, data URLs, base64 in members of OpenEnv observations. The
// format is detected from the first bytes; types in the recording are not trusted.

const IMAGES_MOST = 12;
const IMAGE_SHORTEST = 48;
const IMAGE_LONGEST = 24 << 20; // base64 characters
const VALUES_MOST = 20000; // values searched
const IMAGE_KINDS = [
	["iVBORw0KGgo", "png"],
	["/9j/", "jpeg"],
	["R0lGOD", "gif"],
	["UklGR", "webp"],
];

function imageKind(base64) {
	const kind = IMAGE_KINDS.find(([start]) => base64.startsWith(start))?.[1];

	// RIFF is also used by other formats
	return kind !== "webp" || firstBytes(base64).slice(8, 12) === "WEBP" ? kind : undefined;
}

function firstBytes(base64) {
	try {
		return atob(base64.slice(0, 16));
	} catch {
		return "";
	}
}

function imageOf(text) {
	const data = text.startsWith("data:") ? text.slice(text.indexOf(",") + 1) : text;

	if (data.length < IMAGE_SHORTEST || data.length > IMAGE_LONGEST || !imageKind(data)) {
		return null;
	}
	const base64 = data.replace(/\s+/g, "");
	return /^[A-Za-z0-9+/]+={0,2}$/.test(base64) ? `data:image/${imageKind(base64)};base64,${base64}` : null;
}

// The data URLs of the images in a value, at most IMAGES_MOST.
function imagesIn(value) {
	const found = [], open = [value];

	for (let at = 0; at < open.length && at < VALUES_MOST && found.length < IMAGES_MOST; at++) {
		const one = open[at];

		if (typeof one === "string") {
			const image = imageOf(one), held = image ? undefined : heldJson(one);
			if (image && !found.includes(image)) {
				found.push(image);
			} else if (held !== undefined) {
				open.push(held);
			}
		} else if (isContainer(one)) {
			open.push(...Object.values(one).slice(0, VALUES_MOST));
		}
	}
	return found;
}

// An element with the images of a step, or null.
function imageStrip(values, what) {
	const found = [...new Set(values.flatMap(imagesIn))].slice(0, IMAGES_MOST);

	if (!found.length) {
		return null;
	}
	return element("div", {class: "images"}, ...found.map((source, index) => {
		const image = element("img", {src: source, alt: `image ${index + 1} of ${what}`, decoding: "async"});

		image.addEventListener("load", () => image.classList.toggle("small", image.naturalWidth < 128));
		return image;
	}));
}

// The value with its images replaced: their base64 is of no use to readers.
function withoutImages(value) {
	if (typeof value === "string" && imageOf(value)) {
		return "(shown as an image)";
	}
	if (!isContainer(value)) {
		return value;
	}
	if (Array.isArray(value)) {
		return value.map(withoutImages);
	}
	return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withoutImages(one)]));
}
