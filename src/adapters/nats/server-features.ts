import { SignalboxError } from '../../core/errors.ts'

/** What is used of the server beyond the floor, with the version that first has it. */
const SINCE = {
  /** Several filter subjects on one consumer. */
  severalFilters: [2, 10],
  /** Names and values on a stream for people. */
  streamMetadata: [2, 10],
  /** Many messages in one direct get. */
  batchedDirectGet: [2, 11],
} as const

/** The oldest server that works. */
const FLOOR = [2, 9] as const

export type ServerFeature = keyof typeof SINCE

/** Which features a server of this version has. */
export class ServerFeatures {
  readonly version: string
  private readonly numbers: readonly [number, number]

  /** @throws SignalboxError nats-server-version where it is older than 2.9 or no version */
  constructor(version: string) {
    const [, major, minor] = /^v?(\d+)\.(\d+)(?:\.|$|-)/.exec(version) ?? []
    if (major === undefined || minor === undefined) throw new SignalboxError('nats-server-version', `the server calls its version \`${version}\``)
    this.version = version
    this.numbers = [Number(major), Number(minor)]
    if (!this.isAtLeast(FLOOR)) throw new SignalboxError('nats-server-version', `the server is nats-server ${version}; 2.9 is the oldest that works`)
  }

  has(feature: ServerFeature): boolean {
    return this.isAtLeast(SINCE[feature])
  }

  private isAtLeast([major, minor]: readonly [number, number]): boolean {
    const [ownMajor, ownMinor] = this.numbers
    return ownMajor > major || (ownMajor === major && ownMinor >= minor)
  }
}
