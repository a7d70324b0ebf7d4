import { readFileSync } from 'node:fs'
import type { SignalboxSettings } from '../config/signalbox/settings.ts'
import { SignalboxError } from '../core/errors.ts'
import { SECRET_BYTES_MIN } from '../core/shape.ts'

/**
 * The secret under which a pool's members hide block keys; undefined where none is configured.
 * @throws SignalboxError usage where the file cannot be read or the secret is too short
 */
export const secretOf = ({ promptHashSecretFile: file }: Pick<SignalboxSettings, 'promptHashSecretFile'>): Uint8Array | undefined => {
  if (file === undefined) return undefined
  let secret: Uint8Array
  try {
    secret = readFileSync(file)
  } catch (error) {
    throw new SignalboxError('usage', `cannot read the pool's secret: ${String(error)}`, { file })
  }
  if (secret.length < SECRET_BYTES_MIN) throw new SignalboxError('usage', `the pool's secret has ${secret.length} bytes, needs at least ${SECRET_BYTES_MIN}`, { file })
  return secret
}
