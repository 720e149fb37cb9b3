// The other side of compare_with_onnxruntime: creates a session for each model, runs them and prints
// one JSON object.
//
//   node onnxruntime_sessions.js TASK.json
//
// TASK.json: {peer: folder with node_modules, threads, seconds, optimization: "all" or "disabled",
//             models: [{path, inputs: [{name, type, shape, file}],
//                       save_outputs: folder or null, save_optimized: file or null}]}
'use strict';
const fs = require('fs');
const path = require('path');
const { createRequire } = require('module');

const ARRAYS = {
  float32: Float32Array, float64: Float64Array, float16: Uint16Array, int64: BigInt64Array,
  uint64: BigUint64Array, int32: Int32Array, uint32: Uint32Array, int16: Int16Array,
  uint16: Uint16Array, int8: Int8Array, uint8: Uint8Array, bool: Uint8Array,
};
const WARM_UPS = 3;
const FEWEST_RUNS = 5;

function residentBytes() {
  const status = fs.readFileSync('/proc/self/status', 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)[1]) * 1024;
}

async function milliseconds(action) {
  const start = performance.now();
  const result = await action();
  return [performance.now() - start, result];
}

function readInputs(ort, inputs) {
  const feeds = {};
  for (const { name, type, shape, file } of inputs) {
    const bytes = fs.readFileSync(file);
    const copy = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
    feeds[name] = new ort.Tensor(type, new ARRAYS[type](copy), shape);
  }
  return feeds;
}

function saveOutputs(folder, names, results) {
  names.forEach((name, i) => {
    const { data, type, dims } = results[name];
    fs.writeFileSync(path.join(folder, `${i}.bin`),
                     Buffer.from(data.buffer, data.byteOffset, data.byteLength));
    fs.writeFileSync(path.join(folder, `${i}.json`), JSON.stringify({ name, type, shape: dims }));
  });
}

async function medianLatency(session, feeds, seconds) {
  for (let i = 0; i < WARM_UPS; i++) await session.run(feeds);
  const times = [];
  for (let spent = 0; spent < seconds * 1000 || times.length < FEWEST_RUNS;) {
    const [time] = await milliseconds(() => session.run(feeds));
    times.push(time);
    spent += time;
  }
  times.sort((a, b) => a - b);
  return times[Math.ceil(times.length / 2) - 1];
}

async function main() {
  const task = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'));
  const ort = createRequire(path.join(path.resolve(task.peer), '/'))('onnxruntime-node');
  const start = residentBytes();
  const loaded = [];
  for (const model of task.models) {
    const options = {
      executionProviders: ['cpu'], executionMode: 'sequential', intraOpNumThreads: task.threads,
      interOpNumThreads: 1, graphOptimizationLevel: task.optimization, logSeverityLevel: 3,
    };
    if (model.save_optimized) options.optimizedModelFilePath = model.save_optimized;
    const [create, session] =
        await milliseconds(() => ort.InferenceSession.create(model.path, options));
    loaded.push({ model, session, create });
  }
  for (const entry of loaded) {
    entry.feeds = readInputs(ort, entry.model.inputs);
    const [first, results] = await milliseconds(() => entry.session.run(entry.feeds));
    entry.first = first;
    if (entry.model.save_outputs) {
      saveOutputs(entry.model.save_outputs, entry.session.outputNames, results);
    }
  }
  const resident = residentBytes() - start;
  const models = [];
  for (const { session, feeds, create, first } of loaded) {
    const latency = task.seconds > 0 ? await medianLatency(session, feeds, task.seconds) : null;
    models.push({ create_ms: create, first_run_ms: first, p50_ms: latency });
  }
  console.log(JSON.stringify({ models, resident_bytes: resident }));
}

main().catch((error) => {
  console.error(`error: ${error.message || error}`);
  process.exitCode = 1;
});
