/** What can be wrong with a machine or with the way it is run. */
export type MachineErrorCode =
  | 'machine-not-covered'
  | 'machine-name-without-meaning'
  | 'machine-too-large'
  | 'machine-configuration-unknown'
  | 'machine-delay-invalid'
  | 'machine-microstep-limit'
  | 'machine-send-within-send'
  | 'machine-actor-unknown'

/** A machine that cannot be interpreted, or that was run wrongly. The message names the machine, the place and the fix. */
export class MachineError extends Error {
  readonly code: MachineErrorCode
  readonly machine: string

  constructor(code: MachineErrorCode, machine: string, message: string) {
    super(`machine \`${machine}\`: ${message}`)
    this.name = 'MachineError'
    this.code = code
    this.machine = machine
  }
}
