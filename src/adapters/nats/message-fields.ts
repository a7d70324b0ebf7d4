import { Match } from '@nats-io/nats-core'
import type { MsgHdrs } from '@nats-io/nats-core'

/** Fifteen digits, the bound of the NATS libraries. */
const WHOLE_MAX = 999_999_999_999_999

/** The value of a header, by its whole name, whatever its case; '' when it is not there. */
export const headerOf = (headers: MsgHdrs | undefined, name: string): string => headers?.get(name, Match.IgnoreCase) ?? ''

/** A whole number from 0 to `max`, digits only; undefined for anything else. */
export const wholeNumber = (text: string, max: number = WHOLE_MAX): number | undefined => {
  if (!/^\d{1,16}$/.test(text)) return undefined
  const value = Number(text)
  return Number.isSafeInteger(value) && value <= max ? value : undefined
}
