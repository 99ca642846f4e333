// Times a program of a folder in turns with ONNX Runtime Web, and tells how far both are from what
// is exact: node webassembly.mjs PEER FOLDER SHAPES. Writes JSON.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const TURN_MS = 200;
const ROUNDS = 7;

const [peer, folder, shapesText] = process.argv.slice(2);
const shapes = JSON.parse(shapesText);

function read(kind, name) {
  const bytes = readFileSync(`${folder}/${name}`);
  return new kind(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
}

function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

async function turn(call) {
  let calls = 0;
  const [begin, wall] = [cpuMs(), performance.now()];
  do {
    await call();
    ++calls;
  } while (performance.now() - wall < TURN_MS);
  return (cpuMs() - begin) / calls;
}

function errorOf(data) {
  let [worst, largest] = [0, 0];
  exact.forEach((value, index) => {
    worst = Math.max(worst, Math.abs(data[index] - value));
    largest = Math.max(largest, Math.abs(value));
  });
  return worst / largest;
}

const source = readFileSync(`${folder}/program.mjs`, "utf8");
const { inputs } = JSON.parse(source.match(/const program = (\{.*?\n\});/s)[1]);
const arrays = inputs.map(({ array }, number) => read(globalThis[array], `input${number}.bin`));
const exact = read(Float64Array, "exact.bin");

const { load } = await import(pathToFileURL(`${folder}/program.mjs`));
const run = await load();
const tensors = Object.fromEntries(
  inputs.map(({ name }, number) => [name, { data: arrays[number], shape: shapes[number] }]),
);
const ours = { call: () => Object.values(run(tensors))[0].data, ms: Infinity };

const theirs = { ms: Infinity };
try {
  const ort = await import(pathToFileURL(peer));
  ort.env.wasm.numThreads = 1;
  ort.env.logLevel = "error";
  const session = await ort.InferenceSession.create(readFileSync(`${folder}/program.onnx`));
  const feeds = Object.fromEntries(
    session.inputNames.map((name, number) => {
      const type = arrays[number] instanceof BigInt64Array ? "int64" : "float32";
      return [name, new ort.Tensor(type, arrays[number], shapes[number])];
    }),
  );
  theirs.call = async () => (await session.run(feeds))[session.outputNames[0]].data;
  await theirs.call();
} catch (error) {
  theirs.problem = String(error).slice(0, 100);
  theirs.call = null;
}

const runners = [ours, theirs].filter(({ call }) => call);
for (const each of runners) each.error = errorOf(await each.call());
for (let round = 0; round < ROUNDS; ++round) {
  for (const each of runners) each.ms = Math.min(each.ms, await turn(each.call));
}
console.log(JSON.stringify({ ours, theirs: theirs.call ? theirs : { problem: theirs.problem } }));
