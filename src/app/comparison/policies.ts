import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PACKAGE_ROOT } from '../package-root.ts'

/** A configuration to compare, and what it is called. */
export interface NamedFile {
  readonly name: string
  readonly file: string
}

const POLICIES_FOLDER: string = fileURLToPath(new URL('deploy/config/policies', PACKAGE_ROOT))

/** The configurations that are compared when none is named, in order of name. */
export const shippedPolicies = (): readonly NamedFile[] =>
  readdirSync(POLICIES_FOLDER).filter((file) => file.endsWith('.yaml')).sort().map((file) => ({ name: basename(file, '.yaml'), file: join(POLICIES_FOLDER, file) }))
