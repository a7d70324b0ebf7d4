import type { Msg, MsgHdrs, Subscription } from '@nats-io/nats-core'
import { decodeTelemetryReport, fromBytes, WireError } from '../../wire/index.ts'
import type { TelemetryReport } from '../../wire/index.ts'
import type { NatsLink } from './connection.ts'
import { headerOf } from './message-fields.ts'
import { nameOf } from './names.ts'
import type { Names } from './names.ts'
import { readTelemetryJson } from './telemetry-json.ts'

/** Names of endpoints kept by subject: more than any fleet, and a bound on what a flood of subjects costs. */
const SUBJECTS_MAX = 65_536

/** Why a message was not taken. */
export type TelemetryFault = 'subject' | 'malformed' | 'other-endpoint'

export interface TelemetryFeedOptions {
  readonly link: NatsLink
  readonly names: Names
  /** A report, of the endpoint that its subject names. */
  report(report: TelemetryReport): void
  refused(fault: TelemetryFault): void
}

/** The subject's endpoint is the one that counts: it is what the server lets an agent publish to. */
export const subscribeTelemetry = ({ link, names, report, refused }: TelemetryFeedOptions): Subscription => {
  const known = new Map<string, string>()
  const start = names.telemetry('x').length - 1
  return link.connection.subscribe(names.anyTelemetry, {
    callback: (error, message) => {
      if (error !== null) return
      const endpoint = known.get(message.subject) ?? nameOf(message.subject.slice(start))
      if (endpoint === undefined) return refused('subject')
      if (known.size < SUBJECTS_MAX) known.set(message.subject, endpoint)
      const read = readReport(message)
      if (read === undefined) return refused('malformed')
      if (read.endpoint === '') read.endpoint = endpoint
      if (read.endpoint === endpoint) report(read)
      else refused('other-endpoint')
    },
  })
}

const readReport = (message: Msg): TelemetryReport | undefined => {
  if (isJson(message)) return readTelemetryJson(message.data)
  try {
    const report = fromBytes(decodeTelemetryReport, message.data)
    return report.metrics === undefined ? undefined : report
  } catch (error) {
    if (error instanceof WireError) return undefined
    throw error
  }
}

/** Whether the header says that the body is JSON; else it is protobuf. */
export const isJson = ({ headers }: { readonly headers?: MsgHdrs | undefined }): boolean => headerOf(headers, 'Content-Type').toLowerCase().startsWith('application/json')
