import type { Place } from '../../core/errors.ts'
import type { Cursor } from '../yaml/cursor.ts'

/** A name of a plugin as some part of the document gives it; without a place where injection gave it. */
export interface Reference {
  readonly name: string
  readonly place?: Place
}

/** The `pluginRef` of an object whose other fields are checked elsewhere. */
export const readReference = (holder: Cursor, what: string): Reference | undefined => {
  const field = holder.field('pluginRef')
  const name = field.text()
  if (name !== undefined && name !== '') return { name, place: field.place }
  return field.given && field.value !== '' ? undefined : holder.fail(`${what} has no pluginRef`)
}
