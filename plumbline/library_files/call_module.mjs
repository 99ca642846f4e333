// Calls a program of a module of WebAssembly for another process, which reads and writes its
// tensors through pipes: call_module.mjs MODULE FUNCTION. Requests and replies are those of
// call_library.c, but for weights, which modules do not load.

import { readFileSync, readSync, writeSync } from "node:fs";

const VALUE = 0n;
const OUTS = [2n, 3n];
const INS = [1n, 3n];
const ALIGNMENT = 64;

const [path, name] = process.argv.slice(2);
const { exports } = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(path)));
exports._initialize();

function fail(what) {
  process.stderr.write(`${what}\n`);
  process.exit(1);
}

/** Fills an array from standard input; false where that ends before the first byte. */
function read(bytes) {
  let done = 0;
  while (done < bytes.length) {
    const count = readSync(0, bytes, done, bytes.length - done, null);
    if (count === 0) {
      if (done === 0) return false;
      fail("a request is cut off");
    }
    done += count;
  }
  return true;
}

function readWords(count) {
  const words = new BigInt64Array(count);
  if (!read(new Uint8Array(words.buffer))) fail("a request is cut off");
  return words;
}

function write(bytes) {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(1, bytes, done, bytes.length - done);
  }
}

function memoryAt(place, bytes) {
  return new Uint8Array(exports.memory.buffer, place, bytes);
}

function allocate(bytes) {
  const rounded = (Math.floor(bytes / ALIGNMENT) + 1) * ALIGNMENT;
  const place = rounded < 2 ** 32 ? exports.aligned_alloc(ALIGNMENT, rounded) >>> 0 : 0;
  if (place === 0) fail("there is no memory for an argument");
  return place;
}

function call(count) {
  const header = readWords(2 * count);
  const kinds = header.filter((_, index) => index % 2 === 0);
  const words = header.filter((_, index) => index % 2 === 1);
  const places = Array.from(words, (word, index) => {
    if (kinds[index] === VALUE) return null;
    const place = allocate(Number(word));
    if (INS.includes(kinds[index]) && word > 0n) {
      const bytes = new Uint8Array(Number(word));
      if (!read(bytes)) fail("a request is cut off");
      memoryAt(place, bytes.length).set(bytes);
    }
    return place;
  });
  const packed = allocate(8 * count);
  new BigInt64Array(exports.memory.buffer, packed, count).set(
    places.map((place, index) => (place === null ? words[index] : BigInt(place))),
  );
  const message = exports[`${name}_packed`](packed) >>> 0;
  const rest = message ? new Uint8Array(exports.memory.buffer, message) : new Uint8Array(1);
  const text = rest.slice(0, rest.indexOf(0));
  write(new Uint8Array(BigInt64Array.of(BigInt(text.length)).buffer));
  write(text);
  for (const [index, place] of places.entries()) {
    if (place === null) continue;
    if (!message && OUTS.includes(kinds[index])) write(memoryAt(place, Number(words[index])));
    exports.free(place);
  }
  exports.free(packed);
  if (message) exports.free(message);
}

const request = new BigInt64Array(1);
while (read(new Uint8Array(request.buffer))) {
  if (request[0] < 0n) fail("there is no such request");
  call(Number(request[0]));
}
