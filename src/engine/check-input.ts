import { SignalboxError } from '../core/errors.ts'
import type { EndpointInfo } from '../wire/endpoint.ts'
import type { Input } from '../wire/input.ts'

/** Longest name of anything, in UTF-16 units: more is a mistake or an attack, and would be in every record. */
const NAME_MAX = 1024

/**
 * Refuses an input that the engine could not take, before it takes a position.
 * @throws SignalboxError input-invalid
 */
export const checkInput = (message: Input): void => {
  const { input } = message
  if (input === undefined) throw invalid('an input without content')
  switch (input.kind) {
    case 'endpointJoined':
    case 'endpointUpdated':
      checkEndpoint(input.value.endpoint)
      return
    case 'endpointDraining':
    case 'endpointLeft':
      checkName(input.value.endpoint, 'endpoint')
      return
    case 'requestReceived':
      if (input.value.requestId.length > NAME_MAX) throw invalid(`request id of ${input.value.requestId.length} characters; at most ${NAME_MAX}`)
      if (input.value.model.length > NAME_MAX) throw invalid(`model name of ${input.value.model.length} characters; at most ${NAME_MAX}`)
      return
    default:
  }
}

const checkEndpoint = (endpoint: EndpointInfo | undefined): void => {
  if (endpoint === undefined) throw invalid('an endpoint event without endpoint')
  checkName(endpoint.id, 'endpoint')
  if (endpoint.address === '') throw invalid(`endpoint ${endpoint.id} has no address`)
  if (endpoint.port < 1 || endpoint.port > 65_535) throw invalid(`endpoint ${endpoint.id}: port ${endpoint.port} is not in 1..65535`)
}

const checkName = (name: string, what: string): void => {
  if (name === '') throw invalid(`${what} without name`)
  if (name.length > NAME_MAX) throw invalid(`${what} name of ${name.length} characters; at most ${NAME_MAX}`)
}

const invalid = (message: string): SignalboxError => new SignalboxError('input-invalid', message)
