import protobuf from 'protobufjs'

export type Scalar =
  | 'uint32' | 'int32' | 'sint32' | 'fixed32' | 'sfixed32'
  | 'uint64' | 'int64' | 'sint64' | 'fixed64' | 'sfixed64'
  | 'bool' | 'string' | 'bytes' | 'double' | 'float'

export type FieldType =
  | { readonly is: 'scalar', readonly scalar: Scalar }
  | { readonly is: 'enum', readonly name: string, readonly file: string, readonly first: string }
  | { readonly is: 'message', readonly name: string, readonly file: string }

export interface FieldModel {
  readonly name: string
  readonly number: number
  readonly type: FieldType
  readonly shape: 'single' | 'optional' | 'repeated' | 'packed'
  readonly comment: string | undefined
}

export interface OneofModel {
  readonly name: string
  readonly members: readonly FieldModel[]
}

export interface MessageModel {
  readonly is: 'message'
  readonly name: string
  readonly comment: string | undefined
  /** In the order of their numbers; a oneof stands where its first member does. */
  readonly parts: readonly (FieldModel | OneofModel)[]
}

export interface EnumModel {
  readonly is: 'enum'
  readonly name: string
  readonly comment: string | undefined
  /** The literal of each number. */
  readonly values: readonly { readonly literal: string, readonly number: number }[]
}

export interface FileModel {
  /** Name without folder and ending: `request` for request.proto. */
  readonly name: string
  readonly declarations: readonly (MessageModel | EnumModel)[]
}

const SCALARS: ReadonlySet<string> = new Set<Scalar>([
  'uint32', 'int32', 'sint32', 'fixed32', 'sfixed32', 'uint64', 'int64', 'sint64', 'fixed64', 'sfixed64',
  'bool', 'string', 'bytes', 'double', 'float',
])

export function isOneof(part: FieldModel | OneofModel): part is OneofModel {
  return 'members' in part
}

/** What the .proto files declare, file by file in the order given. Throws an `Error` that names what cannot be generated. */
export function readModel(root: protobuf.Root, files: readonly string[]): readonly FileModel[] {
  root.resolveAll()
  return files.map(file => ({
    name: fileName(file),
    declarations: declarationsOf(root, file),
  }))
}

function declarationsOf(space: protobuf.NamespaceBase, file: string): (MessageModel | EnumModel)[] {
  const found: (MessageModel | EnumModel)[] = []
  for (const child of space.nestedArray) {
    if (child instanceof protobuf.Type) {
      if (child.nestedArray.length > 0) throw new Error(`${child.fullName}: nested declarations are not generated; declare them at the top level`)
      if (child.filename === file) found.push(messageModel(child))
    } else if (child instanceof protobuf.Enum) {
      if (child.filename === file) found.push(enumModel(child))
    } else if (child instanceof protobuf.Namespace) {
      found.push(...declarationsOf(child, file))
    }
  }
  return found
}

function messageModel(type: protobuf.Type): MessageModel {
  const parts: (FieldModel | OneofModel)[] = []
  const done = new Set<protobuf.OneOf>()
  const fields = [...type.fieldsArray].sort((a, b) => a.id - b.id)
  for (const field of fields) {
    const oneof = field.partOf
    if (oneof === null || oneof === undefined || isSynthetic(oneof)) {
      parts.push(fieldModel(field))
    } else if (!done.has(oneof)) {
      done.add(oneof)
      parts.push({ name: camelCase(oneof.name), members: fields.filter(member => member.partOf === oneof).map(fieldModel) })
    }
  }
  return { is: 'message', name: type.name, comment: type.comment ?? undefined, parts }
}

/** `optional` fields are parsed as members of a oneof of their own. */
function isSynthetic(oneof: protobuf.OneOf): boolean {
  return oneof.fieldsArray.length === 1 && oneof.fieldsArray[0]?.options?.['proto3_optional'] === true
}

function fieldModel(field: protobuf.Field): FieldModel {
  if (field.map) throw new Error(`${field.fullName}: map fields have no order and are not generated`)
  const optional = field.options?.['proto3_optional'] === true
  const type = typeOf(field)
  const packable = type.is === 'enum' || (type.is === 'scalar' && type.scalar !== 'string' && type.scalar !== 'bytes')
  return {
    name: camelCase(field.name),
    number: field.id,
    type,
    shape: field.repeated ? (packable && field.packed ? 'packed' : 'repeated') : optional ? 'optional' : 'single',
    comment: field.comment ?? undefined,
  }
}

function typeOf(field: protobuf.Field): FieldType {
  const resolved = field.resolvedType
  if (resolved instanceof protobuf.Enum) {
    const first = enumModel(resolved).values.find(value => value.number === 0)
    if (first === undefined) throw new Error(`${resolved.fullName}: no value 0`)
    return { is: 'enum', name: resolved.name, file: fileName(resolved.filename ?? ''), first: first.literal }
  }
  if (resolved instanceof protobuf.Type) return { is: 'message', name: resolved.name, file: fileName(resolved.filename ?? '') }
  if (!isScalar(field.type)) throw new Error(`${field.fullName}: type ${field.type} is not generated`)
  return { is: 'scalar', scalar: field.type }
}

function isScalar(type: string): type is Scalar {
  return SCALARS.has(type)
}

function enumModel(type: protobuf.Enum): EnumModel {
  const prefix = `${type.name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toUpperCase()}_`
  const values = Object.entries(type.values).map(([name, number]) => {
    if (!name.startsWith(prefix)) throw new Error(`${type.fullName}.${name}: expected the prefix ${prefix}`)
    return { literal: name.slice(prefix.length).toLowerCase().replaceAll('_', '-'), number }
  })
  return { is: 'enum', name: type.name, comment: type.comment ?? undefined, values: values.sort((a, b) => a.number - b.number) }
}

function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

function fileName(path: string): string {
  return path.replace(/^.*\//, '').replace(/\.proto$/, '')
}
