// Perfetto's trace_processor, as its user interface runs it (WebAssembly in a worker), run by Node: opens a trace, makes
// queries, prints each one's rows as one line of JSON.
//
//   node trace_processor.js FOLDER TRACE QUERY...
//
// FOLDER has the engine (engine_bundle.js and trace_processor.wasm): scripts/fetch-trace-processor brings it. The engine
// speaks Perfetto's protocol for queries (protos/perfetto/trace_processor/trace_processor.proto) over a message port.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');

const [folder, trace, ...queries] = process.argv.slice(2);

// ---- protobuf, as much as is needed

function varint(value) {
  const bytes = [];
  for (let rest = BigInt(value); ; rest >>= 7n) {
    if (rest < 128n) return Buffer.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 127n) | 128);
  }
}
const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const bytes = (field, value) => Buffer.concat([varint((field << 3) | 2), varint(value.length), value]);

function readVarint(buffer, at) {
  let value = 0n;
  for (let shift = 0n; ; shift += 7n) {
    const byte = buffer[at.offset++];
    value |= BigInt(byte & 127) << shift;
    if (byte < 128) return value;
  }
}
// Calls back with each field's number and content.
function fields(buffer, take) {
  const at = { offset: 0 };
  while (at.offset < buffer.length) {
    const tag = Number(readVarint(buffer, at));
    if ((tag & 7) === 0) {
      take(tag >> 3, readVarint(buffer, at));
    } else if ((tag & 7) === 2) {
      const length = Number(readVarint(buffer, at));
      take(tag >> 3, buffer.subarray(at.offset, (at.offset += length)));
    } else {
      throw new Error(`a field of a sort that is not known here: ${tag & 7}`);
    }
  }
}
function packed(buffer) {
  const values = [];
  for (const at = { offset: 0 }; at.offset < buffer.length; ) values.push(readVarint(buffer, at));
  return values;
}

// ---- the engine, in the surroundings of a worker

let reply = () => {};
const said = [];
const port = {
  onmessage: null,
  postMessage: (data) => reply(Buffer.from(data)),
};
const worker = {
  TextDecoder, TextEncoder, URL, performance, setTimeout, clearTimeout, queueMicrotask, crypto,
  // What it says is of interest only when it fails.
  console: { log() {}, info() {}, warn: (what) => said.push(what), error: (what) => said.push(what) },
  importScripts() {},
  location: { href: 'https://engine.invalid/engine_bundle.js' },
  // The engine reads its module at once.
  XMLHttpRequest: class {
    open(_, name) { this.name = path.basename(String(name)); }
    send() { this.response = new Uint8Array(fs.readFileSync(path.join(folder, this.name))).buffer; }
  },
};
worker.self = worker;
worker.WorkerGlobalScope = class {};
vm.createContext(worker);
vm.runInContext(fs.readFileSync(path.join(folder, 'engine_bundle.js'), 'utf8'), worker, { filename: 'engine_bundle.js' });
worker.onmessage({ data: port });

// ---- requests: one at a time

const APPEND = 1, FINISH = 2, QUERY = 3;
let sequence = 0;
// Resolves with the messages that answer, the last of which satisfies `last`.
function request(kind, content, last) {
  return new Promise((resolve, reject) => {
    const answers = [];
    reply = (data) => {
      fields(data, (_, message) => {
        const answer = {};
        fields(message, (field, value) => { answer[field] = value; });
        if (answer[5]) reject(new Error(`trace_processor: ${answer[5]}`));
        answers.push(answer);
        if (last(answer)) resolve(answers);
      });
    };
    const message = Buffer.concat([number(1, sequence++), number(2, kind), content]);
    // The port takes memory of its own context's kind.
    const data = vm.runInContext('(length) => new Uint8Array(length)', worker)(bytes(1, message).length);
    data.set(bytes(1, message));
    port.onmessage({ data });
  });
}

async function query(sql) {
  const ends = (answer) => {
    let end = false;
    fields(answer[203], (field, value) => {
      if (field === 2 && value.length > 0) end = true;
      if (field === 3) fields(value, (inner, flag) => { end ||= inner === 6 && flag === 1n; });
    });
    return end;
  };
  const rows = [];
  const columns = [];
  for (const answer of await request(QUERY, bytes(103, bytes(1, Buffer.from(sql))), ends)) {
    fields(answer[203], (field, value) => {
      if (field === 1) columns.push(value.toString());
      if (field === 2 && value.length > 0) throw new Error(`${sql}: ${value}`);
      if (field !== 3) return;
      const batch = { cells: [], numbers: [], floats: [], strings: [] };
      fields(value, (inner, content) => {
        if (inner === 1) batch.cells.push(...packed(content));
        if (inner === 2) batch.numbers.push(...packed(content));
        if (inner === 3) for (let at = 0; at < content.length; at += 8) batch.floats.push(content.readDoubleLE(at));
        if (inner === 5) batch.strings.push(...content.toString().split('\0'));
      });
      for (const cell of batch.cells) {
        if (rows.length === 0 || rows.at(-1).length === columns.length) rows.push([]);
        const next = { 1: () => null, 2: () => Number(BigInt.asIntN(64, batch.numbers.shift())), 3: () => batch.floats.shift(), 4: () => batch.strings.shift() }[cell];
        rows.at(-1).push(next());
      }
    });
  }
  return rows;
}

(async () => {
  // The module is there at once; what waits for it goes on in the next turn.
  await new Promise((resolve) => setTimeout(resolve, 0));
  const data = fs.readFileSync(trace);
  for (let at = 0; at < data.length; at += 8 << 20) {
    const piece = data.subarray(at, at + (8 << 20));
    await request(APPEND, bytes(101, piece), (answer) => answer[201] !== undefined);
  }
  await request(FINISH, Buffer.alloc(0), (answer) => answer[3] === BigInt(FINISH));
  for (const sql of queries) console.log(JSON.stringify(await query(sql)));
})().then(() => process.exit(0), (error) => { console.error(...said, error); process.exit(1); });
