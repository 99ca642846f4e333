const ALIGNMENT = 64;

/**
 * Loads the module. What it gives is called as is said above, any number of times.
 *
 * @param {WebAssembly.Module | BufferSource | URL | string} [source] the module, its bytes, or
 *   where it lies; else it lies beside this file.
 */
export async function load(source = new URL(program.module, import.meta.url)) {
  const module = source instanceof WebAssembly.Module ? source : await compile(source);
  const { exports } = await WebAssembly.instantiate(module);
  exports._initialize();
  return (inputs) => call(exports, inputs);
}

async function compile(source) {
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) {
    return WebAssembly.compile(source);
  }
  const url = new URL(source, import.meta.url);
  if (url.protocol === "file:") {
    const { readFile } = await import("node:fs/promises");
    return WebAssembly.compile(await readFile(url));
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  return WebAssembly.compile(await response.arrayBuffer());
}

function call(exports, inputs) {
  const given = argumentsOf(inputs);
  const sizes = sizesOf(given.map((tensor) => tensor.shape));
  const memory = new Memory(exports);
  try {
    const places = given.map(({ data }, number) =>
      program.inputs[number].scalar ? null : memory.copyIn(data),
    );
    const results = program.outputs.map((output, number) => {
      const shape = resultShape(exports, memory, number, output.rank, sizes);
      return { shape, place: memory.allocate(bytesOf(output, shape)) };
    });
    const told = program.unbacked.map(() => memory.allocate(8));
    const words = [...places, ...results.map(({ place }) => place), ...told, ...sizes];
    if (program.workspace) {
      words.push(memory.allocate(Number(exports[`${program.name}_workspace_size`](...sizes))));
    }
    memory.run(words, given);
    program.unbacked.forEach(({ output, axis }, number) => {
      results[output].shape[axis] = Number(memory.view.getBigInt64(told[number], true));
    });
    program.inputs.forEach(({ inout }, number) => {
      const { data } = given[number];
      if (inout) data.set(memory.array(data.constructor, places[number], data.length));
    });
    return Object.fromEntries(
      program.outputs.map((output, number) => {
        const { shape, place } = results[number];
        const data = memory.array(globalThis[output.array], place, lengthOf(output, shape));
        return [output.name, { data: data.slice(), shape }];
      }),
    );
  } finally {
    memory.release();
  }
}

/** The arguments in order, each with `data` and `shape`; of a number the data is the number. */
function argumentsOf(inputs) {
  const names = program.inputs.map(({ name }) => name);
  const unknown = Object.keys(inputs ?? {}).filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    fail(TypeError, `there is no argument ${unknown[0]}; there are ${names.join(", ") || "none"}`);
  }
  return program.inputs.map((input) => {
    const tensor = inputs?.[input.name];
    if (tensor === undefined) fail(TypeError, `the argument ${input.name} is missing`);
    return input.scalar ? { data: tensor, shape: [] } : checked(input, tensor);
  });
}

function checked(input, tensor) {
  const { data, shape } = tensor ?? {};
  if (!(data instanceof globalThis[input.array]) || !Array.isArray(shape)) {
    fail(TypeError, `${input.name} is to be { data, shape }, with data in a ${input.array}`);
  }
  const { name, rank } = input;
  const isSize = (size) => Number.isSafeInteger(size) && size >= 0;
  if (shape.length !== rank || !shape.every(isSize)) {
    fail(RangeError, `${name} has the shape [${shape}], and is to have ${rank} sizes`);
  }
  const length = lengthOf(input, shape);
  if (data.length !== length) {
    fail(RangeError, `${name} has ${data.length} numbers; of its shape it would have ${length}`);
  }
  return { data, shape };
}

/** The values of the symbols, from the shapes of the arguments, which are held against them. */
function sizesOf(shapes) {
  const values = {};
  const value = (of) => {
    if (typeof of === "number") return of;
    if (typeof of === "string") return values[of];
    if (!Array.isArray(of)) return shapes[of.argument][of.axis];
    const [operator, left, right] = [of[0], value(of[1]), value(of[2])];
    return OPERATORS[operator](left, right);
  };
  for (const step of program.steps) {
    if (step.symbol !== undefined) {
      values[step.symbol] = Math.floor((value(step.size) - value(step.rest)) / step.scale);
      continue;
    }
    const actual = value(step.actual);
    const isLow = step.low !== null && actual < value(step.low);
    if (isLow || (step.high !== null && actual > value(step.high))) {
      const said = step.values.map(value);
      fail(RangeError, step.message.replaceAll("{}", () => said.shift()));
    }
  }
  return program.symbols.map((symbol) => BigInt(values[symbol]));
}

const OPERATORS = {
  "+": (left, right) => left + right,
  "*": (left, right) => left * right,
  mod: (left, right) => left - Math.floor(left / Math.max(right, 1)) * Math.max(right, 1),
  floordiv: (left, right) => Math.floor(left / Math.max(right, 1)),
  ceildiv: (left, right) => Math.ceil(left / Math.max(right, 1)),
};

function resultShape(exports, memory, output, rank, sizes) {
  if (rank === 0) return [];
  const place = memory.allocate(8 * rank);
  exports[`${program.name}_output_shape`](output, ...sizes, place);
  return Array.from({ length: rank }, (_, axis) =>
    Number(memory.view.getBigInt64(place + 8 * axis, true)),
  );
}

function lengthOf(tensor, shape) {
  return shape.reduce((product, size) => product * size, tensor.parts);
}

function bytesOf(tensor, shape) {
  return lengthOf(tensor, shape) * globalThis[tensor.array].BYTES_PER_ELEMENT;
}

function fail(kind, message) {
  throw new kind(`${program.name}: ${message}`);
}

/** What one call has of the module's memory. Views are made anew, as allocations may move it. */
class Memory {
  #exports;
  #places = [];

  constructor(exports) {
    this.#exports = exports;
  }

  get view() {
    return new DataView(this.#exports.memory.buffer);
  }

  array(kind, place, length) {
    return new kind(this.#exports.memory.buffer, place, length);
  }

  allocate(bytes) {
    const rounded = (Math.floor(bytes / ALIGNMENT) + 1) * ALIGNMENT;
    // An address beyond 2 GB is negative to JavaScript.
    const place = rounded < 2 ** 32 ? this.#exports.aligned_alloc(ALIGNMENT, rounded) >>> 0 : 0;
    if (place === 0) fail(RangeError, `there is no memory for ${bytes} bytes`);
    this.#places.push(place);
    return place;
  }

  copyIn(data) {
    const place = this.allocate(data.byteLength);
    this.array(data.constructor, place, data.length).set(data);
    return place;
  }

  /** Runs the program on its arguments as words: of those that are null, numbers that are given. */
  run(words, given) {
    const place = this.allocate(8 * words.length);
    words.forEach((word, number) => {
      const at = place + 8 * number;
      if (word === null) {
        setNumber(this.view, at, program.inputs[number], given[number].data);
      } else {
        this.view.setBigInt64(at, BigInt(word), true);
      }
    });
    const message = this.#exports[`${program.name}_packed`](place) >>> 0;
    if (message === 0) return;
    const bytes = new Uint8Array(this.#exports.memory.buffer, message);
    const text = new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
    this.#exports.free(message);
    throw new Error(text);
  }

  release() {
    for (const place of this.#places) this.#exports.free(place);
  }
}

/** Writes a number where a word is. */
function setNumber(view, at, { name, array }, number) {
  const kind = globalThis[array];
  const isBig = kind === BigInt64Array || kind === BigUint64Array;
  if (!["number", "bigint", "boolean"].includes(typeof number)) {
    fail(TypeError, `${name} is to be a number`);
  }
  const bytes = new Uint8Array(kind.of(isBig ? BigInt(number) : Number(number)).buffer);
  bytes.forEach((byte, index) => view.setUint8(at + index, byte));
}
