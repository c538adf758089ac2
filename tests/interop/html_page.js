// Opens a page of --html in Chromium and runs a scenario; screenshots are kept.
//   html_page.js MODULES CHROMIUM SHOTS PAGE SCENARIO
'use strict';

const assert = require('assert');
const fs = require('fs');
const [modules, browserPath, shots, file, scenario] = process.argv.slice(2);
const { chromium } = require(`${modules}/playwright-core`);
const axe = fs.readFileSync(`${modules}/axe-core/axe.min.js`, 'utf8');

const address = (place = '') => `file://${file}${place}`;
const rows = (page, grid = '#steps') => page.locator(`${grid} [data-index]`);
const selected = (page, grid = '#steps') => page.locator(`${grid} [aria-selected=true]`);
const heading = (page) => page.locator('#detail h2').textContent();

async function press(page, ...keys) {
	for (const key of keys) {
		await page.keyboard.press(key);
	}
}

async function shot(page, name) {
	await page.screenshot({ path: `${shots}/${scenario}-${name}.png` });
}

// In both color schemes. The debugger injects the script, as the page's content security policy would block it.
async function accessible(page) {
	for (const colorScheme of ['light', 'dark']) {
		await page.emulateMedia({ colorScheme });
		await page.evaluate(axe);
		const found = await page.evaluate(() => globalThis.axe.run());
		assert.deepEqual(found.violations.map((one) => [one.id, one.nodes.map((node) => node.html)]), []);
		assert(found.passes.length > 30);
		await shot(page, colorScheme);
	}
}

const scenarios = {
	async steps(page) {
		assert.equal(await rows(page).count(), 7);
		assert.equal(await page.locator('#findings .finding').count(), 5);
		// a page of check opens at the first finding
		assert.equal(await heading(page), 'turn 3 \u00b7 step 3');
		assert.match(page.url(), /bad\.html$/);
		await accessible(page);
		// clicking a finding shows its step and its explanation
		await page.locator('#findings .warning').first().click();
		assert.equal(await heading(page), 'turn 1 \u00b7 step 1');
		assert.match(await page.locator('#detail .why').textContent(), /control plane/);
		await page.setViewportSize({ width: 420, height: 800 });
		assert(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
		await page.screenshot({ path: `${shots}/steps-narrow.png`, fullPage: true });
	},

	async keyboard(page) {
		await press(page, 'g');
		assert.equal(await heading(page), 'turn 0 \u00b7 step 0');
		await press(page, 'j', 'j', 'ArrowDown', 'k');
		assert.equal(await heading(page), 'turn 1 \u00b7 step 1'); // events are rows, too
		assert.match(page.url(), /#\/.*\/step\/1$/);
		assert.equal(await selected(page).count(), 1);
		assert.equal(await page.locator('#steps').getAttribute('aria-activedescendant'), await selected(page).getAttribute('id'));
		await press(page, 'G', 'e');
		assert.equal(await heading(page), 'turn 5 \u00b7 step 5');
		await press(page, 'Enter');
		assert.equal(await page.evaluate(() => document.activeElement.id), 'detail');
		await press(page, '?');
		assert(await page.locator('#help').isVisible());
		await shot(page, 'help');
		await press(page, 'j', 'Enter'); // Enter on the close button
		assert(!await page.locator('#help').isVisible());
		assert.equal(await heading(page), 'turn 5 \u00b7 step 5');
		const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
		assert.equal(await theme(), 'system');
		await press(page, 't');
		assert.equal(await theme(), 'light');
		await press(page, 't');
		assert.equal(await theme(), 'dark');
		assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(21, 23, 26)');
		// every control can be reached with Tab
		const reached = new Set();
		for (let i = 0; i < 40; i++) {
			await press(page, 'Tab');
			reached.add(await page.evaluate(() => document.activeElement.id || document.activeElement.className));
		}
		for (const place of ['search', 'rule', 'steps', 'detail', 'theme', 'help-button']) {
			assert(reached.has(place), `Tab does not reach ${place}`);
		}
	},

	async filter(page) {
		await press(page, '/');
		await page.keyboard.type('action=DOWN');
		await page.waitForFunction(() => document.getElementById('count').textContent === '3 of 7');
		assert.equal(await rows(page).count(), 3);
		await page.locator('#chips [data-category=failed]').click();
		assert.equal(await page.locator('#count').textContent(), '1 of 7');
		await shot(page, 'filtered');
		await press(page, 'Escape');
		assert.equal(await rows(page).count(), 7);
		await page.locator('#rule').selectOption('retry-same-error');
		assert.equal(await page.locator('#count').textContent(), '2 of 7');
		await press(page, 'Escape'); // closes the list of rules
		await page.locator('#steps').focus();
		await press(page, 'Escape', '/');
		await page.keyboard.type('nothing of the kind');
		await page.waitForFunction(() => document.getElementById('count').textContent === '0 of 7');
		assert.match(await page.locator('#steps').textContent(), /Nothing matches/);
		await press(page, 'Escape');
		// a click on the timeline selects a step
		const box = await page.locator('#timeline-bars svg[role=img]').boundingBox();
		await page.mouse.click(box.x + box.width * 0.99, box.y + 20);
		assert.equal(await heading(page), 'turn 5 \u00b7 step 5');
	},

	async link(page) {
		await page.goto(address('#/FrozenLake-v1.0/step/4'));
		assert.equal(await heading(page), 'turn 4 \u00b7 step 4');
		await page.evaluate(() => { location.hash = '#/FrozenLake-v1.0/event/0'; });
		await page.waitForFunction(() => /^event/.test(document.querySelector('#detail h2').textContent));
		// a link to an unknown step shows the rollout
		await page.goto(address('#/nobody/step/%zz'));
		await page.reload();
		assert.equal(await rows(page).count(), 7);
	},

	async print(page) {
		await page.evaluate(() => {
			addEventListener('beforeprint', () => { globalThis.printed = document.querySelectorAll('#print-rows tbody tr').length; });
		});
		await page.pdf({ path: `${shots}/print.pdf`, format: 'A4' });
		assert.equal(await page.evaluate(() => globalThis.printed), 7);
		assert.equal(await page.locator('#print-rows tr').count(), 0);
		// print layout
		await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
		await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
		assert(await page.locator('#print-rows table').isVisible());
		assert(!await page.locator('#search').isVisible());
		assert(!await page.locator('#steps').isVisible());
		assert.match(await page.evaluate(() => getComputedStyle(document.querySelector('#title')).color), /rgb\(27, 31, 36\)/);
		await page.setViewportSize({ width: 800, height: 1100 });
		await page.screenshot({ path: `${shots}/print.png`, fullPage: true });
	},

	// Opens everything that can be opened, and checks that no recorded content was executed or loaded.
	async hostile(page) {
		for (const key of ['g', 'j', 'j']) {
			await press(page, key);
			for (let closed = 1; closed; closed = await page.locator('#rollout-view details:not([open])').count()) {
				await page.evaluate(() => document.querySelectorAll('details').forEach((one) => { one.open = true; }));
				await page.waitForTimeout(20);
			}
			await shot(page, key === 'g' ? 'first' : 'last');
		}
		await press(page, 'g');
		assert.deepEqual(await page.locator('img').evaluateAll((all) => all.map((one) => one.src.slice(0, 22))), ['data:image/png;base64,']);
		await page.waitForFunction(() => document.querySelector('img').naturalWidth === 4);
		assert.equal(await page.locator('script').count(), 2);
		assert.equal(await page.locator('svg[onload], [onerror], [onclick], iframe, object').count(), 0);
		assert.deepEqual(await page.locator('a').evaluateAll((all) => all.filter((one) => !one.getAttribute('href').startsWith('#/'))), []);
		assert.equal(await page.evaluate(() => globalThis.hacked), undefined);
		assert.equal(await page.evaluate(() => ({}).hacked), undefined);
		const text = await page.locator('main').evaluate((node) => node.innerText);
		assert(!/[\u202a-\u202e\u2066-\u2069\u200b\u0000-\u0008]/.test(text + await page.title()));
		assert(text.includes('U+202E') && text.includes('U+D800') && text.includes('U+0007'));
		assert(text.includes('window.hacked=1'));
		await accessible(page);
		// the id in its permalink
		const link = await page.locator('#detail h2 a').getAttribute('href');
		await page.goto('about:blank');
		await page.goto(address(link));
		assert.equal(await heading(page), 'turn 0 \u00b7 step 0');
		// the handler of an element inserted later does not run either
		await page.evaluate(() => document.body.insertAdjacentHTML('beforeend', '<img src="x" onerror="globalThis.hacked = 10">'));
		await page.waitForTimeout(50);
		assert.equal(await page.evaluate(() => globalThis.hacked), undefined);
		page.expected = /Content Security Policy/;
	},

	async conversation(page) {
		await press(page, 'j');
		const part = page.locator('#detail .beside');
		assert(await part.isVisible());
		const [left, right] = await part.evaluate((node) => [...node.children].map((one) => one.getBoundingClientRect().x));
		assert(left < right);
		assert.match(await page.locator('.message.assistant').first().textContent(), /assistant/);
		await page.locator('#detail summary', { hasText: 'before this turn' }).click();
		assert(await page.locator('.message').count() > 1);
		// all of it, each turn with a link to its step
		await page.locator('#transcript > summary').click();
		await page.locator('#transcript .message').nth(6).waitFor();
		await page.locator('#transcript a', { hasText: 'turn 3' }).click();
		await page.waitForFunction(() => /^turn 3/.test(document.querySelector('#detail h2').textContent));
		await accessible(page);
	},

	// Calls as other programs write them: in text, in parts of a message, as items of the Responses API.
	async logs(page) {
		await page.locator('#transcript > summary').click();
		const text = (await page.locator('#transcript').textContent()).replace(/\s+/g, '');
		assert(!text.includes('?('), text);
		for (const call of ['turn({"degrees":90})', 'Read({"path":"gate.c"})', 'look({})']) {
			assert(text.includes(call), `${call} is not in ${text}`);
		}
		const plan = page.locator('#transcript .markdown').first();
		const parts = ['p.heading', 'ol > li > strong', 'ol ul code', 'pre.code', 'a, b, [onclick]', 'em'];
		assert.deepEqual(await Promise.all(parts.map((one) => plan.locator(one).allTextContents())),
			[['Plan'], ['go'], ['deep'], ['**raw**'], [], []]);
		assert((await plan.textContent()).includes('on <http://x.example/a>'));
		assert((await plan.textContent()).includes('<b onclick="alert(1)">x</b> a_b_c 2*3*4 __init__'));
		assert.match(await page.locator('#timeline .measure').first().textContent(), /^latency: at most 12.5 ms a step$/);
		assert.match(await page.locator('#timeline .measure').last().textContent(), /^tokens: at most 7 /);
	},

	// An MCP content part, a data URL and bare base64; data that is only labeled as an image is not shown.
	async images(page) {
		const kinds = async () => page.locator('#detail img').evaluateAll((all) => all.map((one) => one.src.split(';')[0]));
		assert.deepEqual(await kinds(), ['data:image/png', 'data:image/gif']);
		await page.waitForFunction(() => [...document.querySelectorAll('#detail img')].every((one) => one.naturalWidth > 0));
		assert.match(await page.locator('#detail').textContent(), /shown as an image/);
		assert.match(await page.locator('#detail').textContent(), /PHN2Zz4/);
		await press(page, 'j');
		assert.deepEqual(await kinds(), ['data:image/png']);
		await accessible(page);
	},

	async many(page) {
		const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0].startTime);
		assert.equal(await page.locator('#count').textContent(), '10,000 rows');
		assert(await rows(page).count() < 120);
		const scroll = await page.evaluate(() => new Promise((done) => {
			const grid = document.getElementById('steps'), times = [];
			let last = performance.now();
			const frame = (now) => {
				times.push(now - last);
				last = now;
				grid.scrollTop += 1300;
				if (times.length < 100) requestAnimationFrame(frame);
				else done(times.sort((a, b) => a - b));
			};
			requestAnimationFrame(frame);
		}));
		assert(await rows(page).count() < 120);
		await press(page, 'G');
		assert.equal(await heading(page), 'turn 9999 \u00b7 step 9999');
		await shot(page, 'end');
		console.log(`# first paint ${Math.round(paint)} ms; frames while scrolling: median ${scroll[50].toFixed(1)} ms, 95 % under ${scroll[95].toFixed(1)} ms`);
		// every row has its index among all rows
		assert.equal(await selected(page).getAttribute('aria-rowindex'), '10001');
		assert.equal(await page.locator('#steps').getAttribute('aria-rowcount'), '10001');
	},

	async group(page) {
		assert.equal(await page.locator('h1').textContent(), '4 rollouts');
		assert.equal(await rows(page, '#rollouts').count(), 4);
		// one line of headings, each above its column
		const places = (row) => row.evaluate((one) => [...one.children].map((cell) => Math.round(cell.getBoundingClientRect().left)));
		assert.deepEqual(await places(page.locator('#rollouts .head .row')), await places(rows(page, '#rollouts').first()));
		// what went wrong comes first
		assert.match(await rows(page, '#rollouts').first().getAttribute('class'), /is-error/);
		assert(await page.locator('#scatter circle').count() > 0);
		await accessible(page);
		await page.locator('.rule-bar').first().click();
		assert.match(await page.locator('#rollout-count').textContent(), / of 4$/);
		await press(page, 'Escape');
		await page.locator('#rollouts .head button', { hasText: 'steps' }).click();
		await page.locator('#rollouts .head button', { hasText: 'steps' }).click();
		const steps = await rows(page, '#rollouts').evaluateAll((all) => all.map((one) => Number(one.children[3].textContent)));
		assert.deepEqual(steps, [...steps].sort((a, b) => b - a));
		await page.locator('#rollouts').focus();
		await press(page, 'j', 'Enter');
		await page.waitForSelector('#rollout-view:not([hidden])');
		const first = await page.locator('h1').textContent();
		await press(page, await page.locator('#next-rollout').isDisabled() ? '[' : ']');
		await page.waitForFunction((was) => document.querySelector('h1').textContent !== was, first);
		await press(page, 'u');
		await page.waitForSelector('#group-view:not([hidden])');
		await page.locator('#scatter circle').first().click();
	},

	async diff(page) {
		assert.match(await page.locator('#pair-count').textContent(), /rows? of \d+ differ/);
		const kinds = await rows(page, '#pair-rows').evaluateAll((all) => all.map((one) => one.lastChild.textContent));
		assert(kinds.includes('equal') && kinds.includes('only in A') && kinds.includes('only in B'));
		await page.locator('#only-differing').click();
		assert(!(await rows(page, '#pair-rows').allTextContents()).some((one) => one.endsWith('equal')));
		await press(page, 'g', 'j', 'j');
		await accessible(page);
		assert.match(page.url(), /\/row\/\d+$/);
		const at = await page.locator('#pair-detail h2').textContent();
		await page.reload();
		assert.equal(await page.locator('#pair-detail h2').textContent(), at);
	},

	async best(page) {
		assert.match(await page.locator('#group-pairs').textContent(), /1 task.*lake reward 1 \(lake\.0\) and 0 \(lake\.1\)/);
		await page.locator('#group-pairs li a').click();
		await page.waitForSelector('#pair-view:not([hidden])');
		const says = await rows(page, '#pair-rows').evaluateAll((all) => all.map((one) => one.lastChild.textContent));
		assert.deepEqual(says.filter((one, i) => i !== 2), ['equal', 'worst: lake_move action=LEFT', 'only in best', 'only in best', 'only in best']);
		await accessible(page);
		const at = await page.locator('#pair-detail h2').textContent();
		await page.reload();
		assert.equal(await page.locator('#pair-detail h2').textContent(), at);
		await page.locator('#pair-counters a').first().click();
		await page.waitForSelector('#rollout-view:not([hidden])');
	},

	async stats(page) {
		assert.match(await page.locator('#metrics').textContent(), /advantages/);
		await page.locator('#metrics summary').first().click();
		assert.match(await page.locator('#metrics dl').textContent(), /tools\/call_frequency/);
		await page.locator('#metrics summary').last().click();
		await accessible(page);
	},
};

async function main() {
	const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
	const page = await browser.newPage({ viewport: { width: 1360, height: 860 }, colorScheme: 'light', reducedMotion: 'reduce' });
	const wrong = [];

	page.on('pageerror', (error) => wrong.push(error.stack));
	page.on('console', (message) => message.type() === 'error' && wrong.push(message.text()));
	page.on('dialog', (dialog) => wrong.push(`dialog: ${dialog.message()}`));
	page.on('popup', () => wrong.push('a window was opened'));
	page.on('request', (request) => /^(file|data):/.test(request.url()) || wrong.push(`request: ${request.url()}`));
	try {
		await page.goto(address());
		await page.waitForSelector('#group-view:not([hidden]), #rollout-view:not([hidden]), #pair-view:not([hidden])');
		await scenarios[scenario](page);
		assert.deepEqual(wrong.filter((one) => !page.expected?.test(one)), []);
	} catch (error) {
		await shot(page, 'failed');
		throw error;
	} finally {
		await browser.close();
	}
}

main().catch((error) => {
	console.error(error.stack);
	process.exit(1);
});
