import { InvalidArgumentError } from 'commander'
import type { Command } from 'commander'

/** Reads a whole number in a range; anything else is wrong usage. */
export function countFrom(least: number, most: number = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : NaN
    if (Number.isSafeInteger(value) && value >= least && value <= most) return value
    const end = most === Number.MAX_SAFE_INTEGER ? 'up' : `to ${most}`
    throw new InvalidArgumentError(`it must be a whole number from ${least} ${end}`)
  }
}

/** Reads a finite number above a bound; anything else is wrong usage. */
export function numberAbove(bound: number): (text: string) => number {
  return (text) => {
    const value = text.trim() === '' ? NaN : Number(text)
    if (Number.isFinite(value) && value > bound) return value
    throw new InvalidArgumentError(`it must be a number above ${bound}`)
  }
}

/** Reads a number from 0 to 1; anything else is wrong usage. */
export function share(text: string): number {
  const value = text.trim() === '' ? NaN : Number(text)
  if (value >= 0 && value <= 1) return value
  throw new InvalidArgumentError('it must be a number from 0 to 1')
}

/** Reads names between commas. */
export function commaList(text: string): string[] {
  const names = text.split(',').map((name) => name.trim()).filter((name) => name !== '')
  if (names.length === 0) throw new InvalidArgumentError('give at least one name')
  return names
}

/** Reads an http or https address; anything else is wrong usage. */
export function httpUrl(text: string): string {
  const url = URL.parse(text)
  if (url !== null && (url.protocol === 'http:' || url.protocol === 'https:')) return text
  throw new InvalidArgumentError('it must be like http://127.0.0.1:8080')
}

/** Wrong usage ends the process with 2, help with 0. */
export function exitOnUsage(command: Command): Command {
  return command.exitOverride((error) => {
    process.exit(error.exitCode === 0 ? 0 : 2)
  })
}
