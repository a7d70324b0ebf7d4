import { isOneof } from './model.ts'
import type { EnumModel, FieldModel, FieldType, FileModel, MessageModel, OneofModel } from './model.ts'

const HEADER = '// Generated from schemas/ by schemas/generate/main.ts. Change the .proto file and generate again.'

const WIRE_TYPE = {
  uint32: 0, int32: 0, sint32: 0, uint64: 0, int64: 0, sint64: 0, bool: 0,
  double: 1, fixed64: 1, sfixed64: 1,
  string: 2, bytes: 2,
  float: 5, fixed32: 5, sfixed32: 5,
} as const

/** The TypeScript of one .proto file. */
export function fileCode(file: FileModel): string {
  const body = file.declarations.map(each => (each.is === 'message' ? messageCode(each) : enumCode(each)))
  return [HEADER, ...importLines(file), '', body.join('\n\n'), ''].join('\n')
}

/** The TypeScript that gives all files under one path. */
export function indexCode(files: readonly FileModel[]): string {
  const own = ["export { fromBytes, Reader, toBytes, WireError, Writer } from './runtime.ts'"]
  return [HEADER, ...own, ...files.map(file => `export * from './${file.name}.ts'`), ''].join('\n')
}

function importLines(file: FileModel): string[] {
  const lines = ["import type { Reader, Writer } from './runtime.ts'"]
  const values = new Map<string, Set<string>>()
  const types = new Map<string, Set<string>>()
  const add = (to: Map<string, Set<string>>, from: string, name: string): void => {
    to.set(from, (to.get(from) ?? new Set()).add(name))
  }
  for (const declaration of file.declarations) {
    if (declaration.is === 'enum') continue
    for (const field of declaration.parts.flatMap(part => (isOneof(part) ? part.members : [part]))) {
      if (field.type.is === 'scalar' || field.type.file === file.name) continue
      add(values, field.type.file, `encode${field.type.name}`)
      add(values, field.type.file, `decode${field.type.name}`)
      add(types, field.type.file, field.type.name)
    }
  }
  for (const from of [...values.keys()].sort()) {
    lines.push(`import { ${[...(values.get(from) ?? [])].sort().join(', ')} } from './${from}.ts'`)
    lines.push(`import type { ${[...(types.get(from) ?? [])].sort().join(', ')} } from './${from}.ts'`)
  }
  return lines
}

function enumCode(type: EnumModel): string {
  const zero = type.values.find(value => value.number === 0)?.literal ?? ''
  return [
    ...commentLines(type.comment, ''),
    `export type ${type.name} =`,
    ...type.values.map(value => `  | '${value.literal}'`),
    '',
    `export function encode${type.name}(value: ${type.name}): number {`,
    '  switch (value) {',
    ...type.values.map(value => `    case '${value.literal}': return ${value.number}`),
    '  }',
    '}',
    '',
    `/** A number that this schema does not know reads as '${zero}'. */`,
    `export function decode${type.name}(number: number): ${type.name} {`,
    '  switch (number) {',
    ...type.values.filter(value => value.number !== 0).map(value => `    case ${value.number}: return '${value.literal}'`),
    `    default: return '${zero}'`,
    '  }',
    '}',
  ].join('\n')
}

function messageCode(message: MessageModel): string {
  return [
    ...commentLines(message.comment, ''),
    `export interface ${message.name} {`,
    ...message.parts.flatMap(part => [
      ...(isOneof(part) ? [] : commentLines(part.comment, '  ')),
      `  ${part.name}: ${isOneof(part) ? oneofType(part) : fieldType(part)}`,
    ]),
    '}',
    '',
    `export function empty${message.name}(): ${message.name} {`,
    '  return {',
    ...message.parts.map(part => `    ${part.name}: ${isOneof(part) ? 'undefined' : defaultOf(part)},`),
    '  }',
    '}',
    '',
    `export function encode${message.name}(${message.parts.length > 0 ? 'message' : '_message'}: ${message.name}, writer: Writer): Writer {`,
    ...message.parts.flatMap(part => (isOneof(part) ? encodeOneof(part) : encodeField(part))),
    '  return writer',
    '}',
    '',
    `export function decode${message.name}(reader: Reader, length?: number): ${message.name} {`,
    `  const message = empty${message.name}()`,
    '  const limit = reader.limit(length)',
    '  while (reader.at < limit) {',
    '    const tag = reader.uint32()',
    '    switch (tag) {',
    ...message.parts.flatMap(part => (isOneof(part) ? part.members.flatMap(member => decodeMember(part, member)) : decodeField(part))),
    '      default:',
    '        reader.skip(tag)',
    '    }',
    '  }',
    '  reader.finish(limit)',
    '  return message',
    '}',
  ].join('\n')
}

function commentLines(comment: string | undefined, indent: string): string[] {
  if (comment === undefined || comment === '') return []
  const lines = comment.split('\n').map(line => line.trim()).filter(line => line !== '')
  if (lines.length === 1) return [`${indent}/** ${lines[0]} */`]
  return [`${indent}/**`, ...lines.map(line => `${indent} * ${line}`), `${indent} */`]
}

function valueType(type: FieldType): string {
  if (type.is !== 'scalar') return type.name
  switch (type.scalar) {
    case 'bool': return 'boolean'
    case 'string': return 'string'
    case 'bytes': return 'Uint8Array'
    case 'fixed64': case 'sfixed64': return 'bigint'
    default: return 'number'
  }
}

function isAbsentable(field: FieldModel): boolean {
  return field.shape === 'optional' || (field.shape === 'single' && field.type.is === 'message')
}

function isList(field: FieldModel): boolean {
  return field.shape === 'repeated' || field.shape === 'packed'
}

function fieldType(field: FieldModel): string {
  const type = valueType(field.type)
  return isList(field) ? `${type}[]` : isAbsentable(field) ? `${type} | undefined` : type
}

function oneofType(oneof: OneofModel): string {
  const kinds = oneof.members.map(member => `\n    | { readonly kind: '${member.name}', readonly value: ${valueType(member.type)} }`)
  return `${kinds.join('')}\n    | undefined`
}

function defaultOf(field: FieldModel): string {
  if (isList(field)) return '[]'
  if (isAbsentable(field)) return 'undefined'
  if (field.type.is === 'enum') return `'${field.type.first}'`
  if (field.type.is === 'message') return 'undefined'
  switch (field.type.scalar) {
    case 'bool': return 'false'
    case 'string': return "''"
    case 'bytes': return 'new Uint8Array(0)'
    case 'fixed64': case 'sfixed64': return '0n'
    default: return '0'
  }
}

function wireType(type: FieldType): number {
  return type.is === 'message' ? 2 : type.is === 'enum' ? 0 : WIRE_TYPE[type.scalar]
}

function tagOf(field: FieldModel, wire: number = wireType(field.type)): number {
  return field.number * 8 + wire
}

/** The writer's call for one value that is no message, without its tag. */
function writeValue(type: FieldType, value: string): string {
  if (type.is !== 'scalar') return `writer.int32(encode${type.name}(${value}))`
  return `writer.${type.scalar === 'bytes' ? 'data' : type.scalar}(${value})`
}

function readValue(type: FieldType): string {
  if (type.is === 'enum') return `decode${type.name}(reader.enumeration())`
  if (type.is === 'scalar') return `reader.${type.scalar === 'bytes' ? 'data' : type.scalar}()`
  return `decode${type.name}(reader, reader.uint32())`
}

function encodeField(field: FieldModel): string[] {
  const value = `message.${field.name}`
  if (field.shape === 'packed') {
    return [
      `  if (${value}.length > 0) {`,
      `    writer.tag(${tagOf(field, 2)})`,
      '    const start = writer.open()',
      `    for (const item of ${value}) ${writeValue(field.type, 'item')}`,
      '    writer.close(start)',
      '  }',
    ]
  }
  const open = field.shape === 'repeated' ? `  for (const item of ${value}) {` : `  if (${writtenWhen(field, value)}) {`
  return [open, ...tagAndValue(field, field.shape === 'repeated' ? 'item' : value), '  }']
}

function tagAndValue(field: FieldModel, value: string): string[] {
  if (field.type.is !== 'message') return [`    writer.tag(${tagOf(field)})`, `    ${writeValue(field.type, value)}`]
  return [
    `    writer.tag(${tagOf(field)})`,
    '    const start = writer.open()',
    `    encode${field.type.name}(${value}, writer)`,
    '    writer.close(start)',
  ]
}

function writtenWhen(field: FieldModel, value: string): string {
  if (isAbsentable(field)) return `${value} !== undefined`
  if (field.type.is === 'enum') return `${value} !== '${field.type.first}'`
  if (field.type.is === 'message') return `${value} !== undefined`
  switch (field.type.scalar) {
    case 'bool': return value
    case 'string': return `${value} !== ''`
    case 'bytes': return `${value}.length > 0`
    case 'fixed64': case 'sfixed64': return `${value} !== 0n`
    // Minus zero is not the default: its sign would be lost.
    case 'double': case 'float': return `${value} !== 0 || Object.is(${value}, -0)`
    default: return `${value} !== 0`
  }
}

function encodeOneof(oneof: OneofModel): string[] {
  const value = `message.${oneof.name}`
  return [
    `  if (${value} !== undefined) {`,
    `    switch (${value}.kind) {`,
    ...oneof.members.flatMap(member => [
      `      case '${member.name}': {`,
      ...tagAndValue(member, `${value}.value`).map(line => `    ${line}`),
      '        break',
      '      }',
    ]),
    '    }',
    '  }',
  ]
}

function decodeMember(oneof: OneofModel, member: FieldModel): string[] {
  return [
    `      case ${tagOf(member)}:`,
    `        message.${oneof.name} = { kind: '${member.name}', value: ${readValue(member.type)} }`,
    '        break',
  ]
}

function decodeField(field: FieldModel): string[] {
  const target = `message.${field.name}`
  const one = [
    `      case ${tagOf(field)}:`,
    isList(field) ? `        ${target}.push(${readValue(field.type)})` : `        ${target} = ${readValue(field.type)}`,
    '        break',
  ]
  // A packable list may arrive either way.
  if (!isList(field) || wireType(field.type) === 2) return one
  return [
    `      case ${tagOf(field, 2)}: {`,
    '        const end = reader.limit(reader.uint32())',
    `        while (reader.at < end) ${target}.push(${readValue(field.type)})`,
    '        reader.finish(end)',
    '        break',
    '      }',
    ...one,
  ]
}
