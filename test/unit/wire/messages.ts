import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import protobuf from 'protobufjs'
import { readModel, isOneof } from '../../../schemas/generate/model.ts'
import type { EnumModel, FieldModel, FieldType, MessageModel } from '../../../schemas/generate/model.ts'
import * as wire from '../../../src/wire/index.ts'
import type { Reader, Writer } from '../../../src/wire/index.ts'

const SCHEMAS = fileURLToPath(new URL('../../../schemas/', import.meta.url))
const FILES = ['decision', 'endpoint', 'input', 'journal', 'nats', 'request', 'state'].map(name => `${SCHEMAS}signalbox/v1/${name}.proto`)

export const root: protobuf.Root = new protobuf.Root()
root.resolvePath = (_origin, target) => SCHEMAS + target.replace(SCHEMAS, '')
root.loadSync(FILES, { keepCase: false, alternateCommentMode: true })

const declarations = readModel(root, FILES).flatMap(file => file.declarations)
const enums: ReadonlyMap<string, EnumModel> = new Map(declarations.flatMap(each => (each.is === 'enum' ? [[each.name, each]] : [])))

export const messages: ReadonlyMap<string, MessageModel> = new Map(
  declarations.flatMap(each => (each.is === 'message' ? [[each.name, each] as const] : [])),
)

export interface Codec {
  readonly encode: (message: unknown, writer: Writer) => Writer
  readonly decode: (reader: Reader, length?: number) => unknown
  readonly empty: () => unknown
}

export function codec(name: string): Codec {
  const all: { readonly [name: string]: unknown } = wire
  return { encode: all[`encode${name}`], decode: all[`decode${name}`], empty: all[`empty${name}`] } as Codec
}

const anyString = fc.string({ unit: 'binary', maxLength: 100 })

function scalar(type: FieldType & { is: 'scalar' }): fc.Arbitrary<unknown> {
  switch (type.scalar) {
    case 'bool': return fc.boolean()
    case 'string': return fc.oneof(fc.string(), anyString)
    case 'bytes': return fc.uint8Array({ maxLength: 300 })
    case 'double': return fc.double()
    case 'float': return fc.float()
    case 'uint32': case 'fixed32': return fc.oneof(fc.nat(200), fc.integer({ min: 0, max: 0xffff_ffff }))
    case 'int32': case 'sint32': case 'sfixed32': return fc.integer()
    case 'uint64': return fc.oneof(fc.nat(200), fc.maxSafeNat())
    case 'int64': case 'sint64': return fc.maxSafeInteger()
    case 'fixed64': return fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
    case 'sfixed64': return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
  }
}

function valueOf(type: FieldType): fc.Arbitrary<unknown> {
  if (type.is === 'scalar') return scalar(type)
  if (type.is === 'message') return arbitrary(type.name)
  return fc.constantFrom(...(enums.get(type.name)?.values ?? []).map(value => value.literal))
}

function field(model: FieldModel): fc.Arbitrary<unknown> {
  const value = valueOf(model.type)
  if (model.shape === 'repeated' || model.shape === 'packed') return fc.array(value, { maxLength: 4 })
  if (model.shape === 'optional' || model.type.is === 'message') return fc.option(value, { nil: undefined })
  return value
}

/** Any message of the type, every property set. */
export function arbitrary(name: string): fc.Arbitrary<object> {
  const parts = messages.get(name)?.parts ?? []
  const properties = parts.map(part => [
    part.name,
    isOneof(part)
      ? fc.option(fc.oneof(...part.members.map(member => valueOf(member.type).map(value => ({ kind: member.name, value })))), { nil: undefined })
      : field(part),
  ] as const)
  return fc.record(Object.fromEntries(properties), { noNullPrototype: true })
}

/** The same message as protobufjs' reflection takes and gives it. */
export function toReflected(name: string, message: unknown): { [name: string]: unknown } {
  const from = message as { readonly [name: string]: unknown }
  const to: { [name: string]: unknown } = {}
  for (const part of messages.get(name)?.parts ?? []) {
    const value = from[part.name]
    if (value === undefined) continue
    if (isOneof(part)) {
      const chosen = value as { readonly kind: string, readonly value: unknown }
      const member = part.members.find(each => each.name === chosen.kind)
      if (member !== undefined) to[member.name] = reflectedValue(member.type, chosen.value)
    } else if (Array.isArray(value)) {
      to[part.name] = value.map(each => reflectedValue(part.type, each))
    } else {
      to[part.name] = reflectedValue(part.type, value)
    }
  }
  return to
}

function reflectedValue(type: FieldType, value: unknown): unknown {
  if (type.is === 'message') return toReflected(type.name, value)
  if (type.is === 'enum') return enums.get(type.name)?.values.find(each => each.literal === value)?.number
  if (typeof value === 'bigint') return protobuf.util.LongBits.from({ low: Number(BigInt.asIntN(32, value)), high: Number(BigInt.asIntN(32, value >> 32n)), unsigned: true } as never).toLong(true)
  return value
}
