import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import * as wire from '../../../src/wire/index.ts'
import type { Reader } from '../../../src/wire/index.ts'

interface AsyncApi {
  readonly channels: Readonly<Record<string, { readonly address: string; readonly messages: Readonly<Record<string, unknown>> }>>
  readonly operations: Readonly<Record<string, { readonly action: string; readonly channel: { readonly $ref: string }; readonly reply?: { readonly messages: readonly { readonly $ref: string }[] } }>>
  readonly components: { readonly messages: Readonly<Record<string, { readonly payload: { readonly schema: { readonly $ref: string } } }>> }
}

export const SCHEMAS: string = fileURLToPath(new URL('../../../schemas/', import.meta.url))
export const asyncApi: AsyncApi = parse(readFileSync(`${SCHEMAS}asyncapi.yaml`, 'utf8')) as AsyncApi

/** A channel's address as a pattern of subjects. */
const patternOf = (address: string): RegExp =>
  new RegExp(`^${address.replace(/[.$]/g, '\\$&').replace('{prefix}', 'signalbox\\.v1').replace('{stem}_{pool}', 'signalbox_default').replace('{pool}', 'default').replace(/\{\w+\}/g, '=?[A-Za-z0-9_-]+')}$`)

export const decoderOf = (message: string): ((reader: Reader) => unknown) | undefined => (wire as unknown as Record<string, (reader: Reader) => unknown>)[`decode${message}`]

const channels = Object.entries(asyncApi.channels).map(([name, { address, messages }]) => ({ name, pattern: patternOf(address), message: Object.keys(messages)[0] ?? '' }))

/** The channel that a message of the pool `default` came on. Throws where the document has none, or another message on it. */
export const channelOf = (subject: string, data: Uint8Array): string => {
  const channel = channels.find(({ pattern }) => pattern.test(subject))
  if (channel === undefined) throw new Error(`${subject} is not in the document`)
  if (data.length > 0) wire.fromBytes(decoderOf(channel.message) as (reader: Reader) => unknown, data)
  return channel.name
}
