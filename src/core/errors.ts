/**
 * Every error a user can meet, by its stable code: what to do about it. The message says what happened, at the place
 * where it is known; the fix below says the next step.
 */
export const ERRORS = {
  'config-syntax': 'Mend the YAML at the place named.',
  'config-unknown-field': 'Use the nearest field named in the message, or take the line out.',
  'config-invalid': 'Set the field as the message says.',
  'config-unknown-plugin': 'Use the nearest plugin type named in the message, or load yours with --plugins.',
  'config-plugin-not-built': 'The type is known from llm-d but not built yet; take it out of the file.',
  'config-not-built': 'Take the setting out of the file.',
  'config-experimental': 'Start with --allow-experimental-plugins, or take the plugin out of the file.',
  'config-unknown-reference': 'List the plugin under `plugins`, or refer to one that is there.',
  'config-duplicate': 'Give each its own name.',
  'config-graph': 'Configure a producer for the data named, or break the cycle.',
  'discovery-file': 'Put the file of endpoints where the message says, readable; a running engine keeps the endpoints it has.',
  'parameter-invalid': 'See the README of the plugin type for its parameters.',
  'plugin-undeclared-data': 'Declare the key in consumes() or produces().',
  'journal-torn': 'The records before the position are good: read them with --until. An engine does not write on after damage: give it a whole copy, or a journal of its own.',
  'journal-broken-chain': 'The records before the position are good; the file was changed or damaged at the place named.',
  'journal-gap': 'Positions are missing without having been declared: part of the journal was lost.',
  'journal-newer-schema': 'Read this journal with the newer version of signalbox that wrote it.',
  'journal-locked': 'Another process writes this journal: stop it first, or name another journal.',
  'journal-not-found': 'Check the path; `signalbox serve` makes a journal when it starts.',
  'journal-not-a-journal': 'Give a signalbox journal: journal.sqlite, or a file made by `signalbox journal export`.',
  'journal-write': 'Free space on the disk, or mend its permissions.',
  'journal-position': 'See `signalbox journal stat` for the positions that are there.',
  'snapshot-mismatch': 'Delete the snapshots: they only save time.',
  'state-invalid': 'The saved state is damaged or of another configuration; replay from an earlier base.',
  'wire-malformed': 'The bytes are not the message expected: damaged in transit, or written by something else.',
  'input-invalid': 'Correct the input as the message says; the engine took nothing from it.',
  'engine-stopped': 'Restart it: it recovers from its journal. Report the fault that the log names.',
  'request-not-found': 'Give the x-request-id of the response, or a position; see `signalbox journal tail`.',
  'nats-connect': 'Start the NATS server, or check the URL, the certificates and the credentials.',
  'nats-server-version': 'Use nats-server 2.9 or newer.',
  'nats-refused': 'Give the user the permission named; deploy/nats has a configuration with the least that each role needs.',
  'nats-stream': 'Check that JetStream is on and that the stream or bucket has the settings that the message names.',
  'replica-name-taken': 'Another engine has this name in the pool: give this one its own with --replica.',
  'nats-too-large': 'Send the shape in place of the text, or raise max_payload of the NATS server.',
  'port-in-use': 'Stop what listens there, or choose another port with the flag named.',
  'engine-unreachable': 'Start the engine, or give its --admin-listen address with --admin.',
  'usage': 'See --help.',
} as const

export type ErrorCode = keyof typeof ERRORS

/** Where in a file something is wrong; line and column from 1. */
export interface Place {
  readonly file: string
  readonly line?: number
  readonly column?: number
}

/** An error that a user can act on. `toString` gives message, place and fix. */
export class SignalboxError extends Error {
  override readonly name = 'SignalboxError'
  readonly code: ErrorCode
  readonly place: Place | undefined

  constructor(code: ErrorCode, message: string, place?: Place) {
    super(message)
    this.code = code
    this.place = place
  }

  /** What to do next. */
  get fix(): string {
    return ERRORS[this.code]
  }

  override toString(): string {
    const place = this.place === undefined ? '' : ` (${placeText(this.place)})`
    return `${this.message}${place}\n  ${this.fix} [${this.code}]`
  }
}

/** "file:line:column", as editors open it. */
export const placeText = (place: Place): string =>
  [place.file, place.line, place.column].filter((part) => part !== undefined).join(':')
