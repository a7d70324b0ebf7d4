import { expect } from 'vitest'
import type { PrefixCacheMatchInfo } from '../../src/core/attribute.ts'
import type { Endpoint } from '../../src/core/endpoint.ts'
import type { ProfileResult, ProfileResults, Request, SchedulingResult } from '../../src/core/request.ts'
import { endpoint } from '../unit/plugins/given.ts'
import { messageOf } from './runner.ts'

/** What a `config` case expects: an error, or the settings named. */
export interface Configured {
  readonly ok?: boolean
  readonly error?: boolean
  readonly messageContains?: string
  readonly messageContainsAll?: readonly string[]
  readonly [setting: string]: unknown
}

/** Parameters as a case gives them; text that is no JSON throws, as the loader would on such a file. */
export const parametersOf = (input: { readonly parameters?: unknown; readonly rawJSON?: string | null }): unknown => {
  if (typeof input.rawJSON === 'string') return JSON.parse(input.rawJSON) as unknown
  return input.parameters ?? undefined
}

/** Asserts the error that the case wants, or gives what was made to `check` with the settings that it wants. */
export const expectConfigured = <T>(create: () => T, expected: Configured, check: (made: T, settings: Readonly<Record<string, unknown>>) => void): void => {
  const { ok, error, messageContains, messageContainsAll = [], ...settings } = expected
  if (error === true) {
    const message = messageOf(create)
    for (const part of [messageContains ?? '', ...messageContainsAll]) expect(message).toContain(part)
    return
  }
  expect(ok).toBe(true)
  check(create(), settings)
}

/** [match, total, block size], the same as an object, or null; a text stands for a value of another type. */
export type Attribute = readonly [number, number, number] | MatchObject | string | null | undefined

interface MatchObject {
  readonly matchBlocks: number
  readonly totalBlocks: number
  readonly blockSizeTokens: number
  readonly cachedBlockCount?: number
}

export const matchInfo = (attribute: Attribute): PrefixCacheMatchInfo | undefined => {
  if (attribute === null || attribute === undefined) return undefined
  // Only a plugin without types could write one.
  if (typeof attribute === 'string') return attribute as unknown as PrefixCacheMatchInfo
  const [matchBlocks, totalBlocks, blockSizeTokens] =
    'matchBlocks' in attribute ? [attribute.matchBlocks, attribute.totalBlocks, attribute.blockSizeTokens] : attribute
  const cachedBlockCount = 'matchBlocks' in attribute ? attribute.cachedBlockCount : undefined
  return { matchBlocks, totalBlocks, blockSizeTokens, cachedBlockCount: cachedBlockCount ?? matchBlocks }
}

/** "ip:port", "ip|port" where the address is IPv6, or a bare name. */
export const placed = (text: string): Endpoint => {
  const [address = text, port] = text.includes('|') ? text.split('|') : text.split(':')
  return port === undefined ? endpoint(text) : endpoint(text, { id: `default/${text.replaceAll('/', '-')}`, address, port: Number(port) })
}

/** Results as a case gives them: profile to endpoints, null for a run that gave nothing. */
export const resultsOf = (given: Readonly<Record<string, readonly string[] | null>>, find: (text: string) => Endpoint = placed): ProfileResults =>
  new Map(Object.entries(given).map(([profile, names]) => [profile, names === null ? null : { endpoints: names.map(find) }]))

/** Only what a scheduling result can hold: runs that gave nothing are not in it. */
export const schedulingResult = (results: ProfileResults, primary = 'decode'): SchedulingResult => ({
  primary,
  results: new Map([...results].filter((entry): entry is [string, ProfileResult] => entry[1] !== null)),
})

/** The headers that reach the endpoint: those received, changed as the request says; an empty value removes one. */
export const headersAfter = (of: Request): Record<string, string> =>
  Object.fromEntries([...of.received, ...of.headers].reduce((all, [name, value]) => (value === '' ? (all.delete(name), all) : all.set(name, value)), new Map<string, string>()))
