// Drives `rolldbg debug --dap` as an editor does, with Microsoft's test client, and prints the replies and events.
//   dap_client.js MODULES ROLLDBG SESSION ARGUMENT..
// SESSION: look (breakpoints, frames, variables, stepping in both directions), pause (a running rollout is paused), or
// model (a slow model is interrupted, and its call is made by hand).
'use strict';

const { spawn } = require('child_process');
const [modules, program, chosen, ...args] = process.argv.slice(2);
const { DebugClient } = require(`${modules}/@vscode/debugadapter-testsupport`);

const client = new DebugClient('', '', 'rolldbg');
const child = spawn(program, ['debug', '--dap', ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
client.connect(child.stdout, child.stdin);

// Sends a request that resumes execution, and waits for the next stop.
async function move(command) {
	const stopped = client.waitForEvent('stopped');
	await client.send(command, { threadId: 1 });
	const { reason } = (await stopped).body;
	const stack = await client.stackTraceRequest({ threadId: 1, levels: 1 });
	const frame = stack.body.stackFrames[0];
	console.log(`${command}: ${reason}: ${frame.name} (line ${frame.line}, ${stack.body.totalFrames} frames)`);
	return frame;
}

async function pauseWhileItRuns() {
	await client.initializeRequest();
	await client.launchRequest({});
	await move('configurationDone');
	const stopped = client.waitForEvent('stopped');
	await client.continueRequest({ threadId: 1 });
	console.log('continue: answered while it runs');
	const waiting = client.evaluateRequest({ expression: 'step >= 0' });
	await new Promise((resolve) => setTimeout(resolve, 300));
	await client.pauseRequest({ threadId: 1 });
	console.log(`pause: ${(await stopped).body.reason}`);
	console.log(`evaluate: ${(await waiting).body.result}`);
	await move('stepIn');
	await client.continueRequest({ threadId: 1 });
	await client.disconnectRequest({});
}

async function interruptModel() {
	await client.initializeRequest();
	await client.launchRequest({});
	const stopped = client.waitForEvent('stopped');
	await client.configurationDoneRequest();
	await new Promise((resolve) => setTimeout(resolve, 300));
	await client.pauseRequest({ threadId: 1 });
	console.log(`configurationDone: ${(await stopped).body.reason}`);
	const after = client.waitForEvent('stopped');
	await client.evaluateRequest({ expression: 'call lake_move {"action":"RIGHT"}', context: 'repl' });
	console.log(`call: ${(await after).body.reason}`);
	console.log(`position: ${(await client.evaluateRequest({ expression: './position' })).body.result}`);
	await client.disconnectRequest({});
}

async function look() {
	const can = await client.initializeRequest();
	console.log(`steps back: ${can.body.supportsStepBack}`);
	await client.launchRequest({});
	const set = await client.setFunctionBreakpointsRequest({
		breakpoints: [{ name: 'state./position == 9', condition: 'turn > 1' }, { name: 'turn >' }],
	});
	console.log(`breakpoints: ${set.body.breakpoints.map((one) => one.verified)}`);
	await move('configurationDone');
	const frame = await move('continue');
	const scopes = await client.scopesRequest({ frameId: frame.id });
	for (const scope of scopes.body.scopes) {
		const inside = await client.variablesRequest({ variablesReference: scope.variablesReference });
		const names = inside.body.variables.filter((one) => one.type === 'number');
		console.log(`${scope.name}: ${names.map((one) => `${one.name}=${one.value}`).join(' ')}`);
	}
	await move('stepBack');
	console.log(`position: ${(await client.evaluateRequest({ expression: './position' })).body.result}`);
	await move('next');
	await move('reverseContinue');
	await client.disconnectRequest({});
}

child.on('exit', (code) => console.log(`exit ${code}`));
const sessions = { look, pause: pauseWhileItRuns, model: interruptModel };
sessions[chosen]().catch((error) => {
	console.error(error);
	child.kill();
	process.exitCode = 1;
});
