// duckdb.js
//     An in-memory DuckDB that a benchmark talks to (BenchDuckDB.pm).
//
// Reads a request a line, a JSON object, and answers each with one: {"sql": ..., "rows": true} runs a
// statement and gives {"ms": ..., "result": ...}, the result's rows as PostgreSQL writes rows, sorted, where they are
// asked for; it fails after "limit_ms" milliseconds.  {"version": true} gives {"version": ...}.  What fails gives
// {"error": ...}.

'use strict';

const readline = require('readline');
const { performance } = require('perf_hooks');

let duckdb;
try {
  duckdb = require('@duckdb/node-api');
} catch (error) {
  console.log(JSON.stringify({ error: error.code === 'MODULE_NOT_FOUND' ? 'absent' : String(error) }));
  process.exit(1);
}

function fieldText(value) {
  const text = value === null ? '' : String(value);
  return value === '' || /["\\(),\s]/.test(text) ? '"' + text.replace(/["\\]/g, '$&$&') + '"' : text;
}

function rowText(row) {
  return '(' + row.map(fieldText).join(',') + ')';
}

async function answer(connection, request) {
  if (request.version) {
    const reader = await connection.runAndReadAll('select version()');
    return { version: reader.getRows()[0][0] };
  }
  const limit = request.limit_ms ? setTimeout(() => connection.interrupt(), request.limit_ms) : undefined;
  try {
    const started = performance.now();
    const reader = await connection.runAndReadAll(request.sql);
    const ms = performance.now() - started;
    return request.rows ? { ms, result: reader.getRows().map(rowText).sort().join('\n') } : { ms };
  } finally {
    clearTimeout(limit);
  }
}

async function main() {
  const instance = await duckdb.DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  for await (const line of readline.createInterface({ input: process.stdin })) {
    let reply;
    try {
      reply = await answer(connection, JSON.parse(line));
    } catch (error) {
      reply = { error: String(error.message || error) };
    }
    console.log(JSON.stringify(reply));
  }
}

main();
