// Drives `rolldbg debug --dap` as an editor does, with Microsoft's own test client, and prints what it was told.
//   dap_client.js MODULES ROLLDBG ARGUMENT..
'use strict';

const { spawn } = require('child_process');
const [modules, program, ...args] = process.argv.slice(2);
const { DebugClient } = require(`${modules}/@vscode/debugadapter-testsupport`);

const client = new DebugClient('', '', 'rolldbg');
const child = spawn(program, ['debug', '--dap', ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
client.connect(child.stdout, child.stdin);

// Sends a request that moves, and waits until it has stopped.
async function move(command) {
	const stopped = client.waitForEvent('stopped');
	await client.send(command, { threadId: 1 });
	const reason = (await stopped).body.reason;
	const stack = await client.stackTraceRequest({ threadId: 1, levels: 1 });
	const frame = stack.body.stackFrames[0];
	console.log(`${command}: ${reason}: ${frame.name} (line ${frame.line}, ${stack.body.totalFrames} frames)`);
	return frame;
}

async function session() {
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
session().catch((error) => {
	console.error(error);
	child.kill();
	process.exitCode = 1;
});
