/**
 * A WebAssembly assembler, as much of one as the hashes here need. Code is written as expression trees, so a formula
 * reads as it does in its specification; the bytes are made when the module is first needed, in well under a
 * millisecond. (WebAssembly core specification, binary format)
 */
export type Code = readonly number[]

const I32 = 0x7f
const I64 = 0x7e
const EMPTY = 0x40

/** Unsigned LEB128, up to 32 bits. */
const unsigned = (value: number): Code => (value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)])

/** Signed LEB128, up to 64 bits. */
const signed = (value: bigint): Code => {
  const low = Number(value & 127n)
  const rest = value >> 7n
  const done = (rest === 0n && low < 64) || (rest === -1n && low >= 64)
  return done ? [low] : [low | 128, ...signed(rest)]
}

const sized = (bytes: Code): Code => [...unsigned(bytes.length), ...bytes]
const counted = (items: readonly Code[]): Code => [...unsigned(items.length), ...items.flat()]

const binary =
  (opcode: number) =>
  (a: Code, b: Code): Code => [...a, ...b, opcode]

export const i32 = {
  constant: (value: number): Code => [0x41, ...signed(BigInt(value | 0))],
  add: binary(0x6a),
  sub: binary(0x6b),
  mul: binary(0x6c),
  lessOrEqual: binary(0x4d),
  less: binary(0x49),
  equals: binary(0x46),
  load8: (at: Code): Code => [...at, 0x2d, 0, 0],
}

export const i64 = {
  constant: (value: bigint): Code => [0x42, ...signed(BigInt.asIntN(64, value))],
  add: binary(0x7c),
  sub: binary(0x7d),
  mul: binary(0x7e),
  xor: binary(0x85),
  shiftRight: binary(0x88),
  rotateLeft: binary(0x89),
  load: (at: Code, offset = 0): Code => [...at, 0x29, 0, ...unsigned(offset)],
  load32: (at: Code): Code => [...at, 0x35, 0, 0],
  load8: (at: Code): Code => [...at, 0x31, 0, 0],
  store: (at: Code, value: Code, offset = 0): Code => [...at, ...value, 0x37, 0, ...unsigned(offset)],
  fromI32: (value: Code): Code => [...value, 0xad],
}

export const local = {
  get: (index: number): Code => [0x20, index],
  set: (index: number, value: Code): Code => [...value, 0x21, index],
}

/** Runs the body as long as the condition holds. */
export const loopWhile = (condition: Code, ...body: readonly Code[]): Code => [
  0x02, EMPTY, 0x03, EMPTY, // block, loop
  ...condition, 0x45, 0x0d, 1, // leave when it does not hold
  ...body.flat(), 0x0c, 0,
  0x0b, 0x0b,
]

export const ifElse = (condition: Code, then: readonly Code[], otherwise: readonly Code[] = []): Code => [
  ...condition, 0x04, EMPTY, ...then.flat(), 0x05, ...otherwise.flat(), 0x0b,
]

/** One or the other value; both are computed. */
export const select = (condition: Code, then: Code, otherwise: Code): Code => [...then, ...otherwise, ...condition, 0x1b]

export const call = (index: number, ...operands: readonly Code[]): Code => [...operands.flat(), 0x10, index]

/** A function; its parameters are its first locals. `result` undefined gives nothing back. */
export interface Routine {
  readonly parameters: readonly ('i32' | 'i64')[]
  readonly locals: readonly ('i32' | 'i64')[]
  readonly result: 'i64' | undefined
  readonly body: readonly Code[]
  readonly exportAs?: string
}

const typeOf = (name: 'i32' | 'i64'): number => (name === 'i32' ? I32 : I64)

/** The bytes of a module with these functions, numbered in order, and one memory, exported as "memory". */
export const assemble = (routines: readonly Routine[], pages: number): Uint8Array<ArrayBuffer> => {
  const types = routines.map((routine) => [
    0x60,
    ...sized(routine.parameters.map(typeOf)),
    ...sized(routine.result === undefined ? [] : [typeOf(routine.result)]),
  ])
  const exports = routines.flatMap((routine, index) =>
    routine.exportAs === undefined ? [] : [[...text(routine.exportAs), 0, index]],
  )
  const bodies = routines.map((routine) =>
    sized([...counted(routine.locals.map((name) => [1, typeOf(name)])), ...routine.body.flat(), 0x0b]),
  )
  return new Uint8Array([
    0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
    1, ...sized(counted(types)),
    3, ...sized(counted(routines.map((_, index) => [index]))),
    5, ...sized([1, 0, ...unsigned(pages)]),
    7, ...sized(counted([...exports, [...text('memory'), 2, 0]])),
    10, ...sized(counted(bodies)),
  ])
}

const text = (name: string): Code => sized([...new TextEncoder().encode(name)])
