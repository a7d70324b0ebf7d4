import type { PluginContext, PluginType, PreRequest, TypedName } from '../../../core/contract.ts'
import { decodeParametersOf, text } from '../../../core/parameters.ts'
import type { Request, SchedulingResult } from '../../../core/request.ts'
import { writeStageHeaders } from '../stage-headers.ts'

const TYPE = 'disagg-headers-handler'

/** Sets the headers of the prefill and encode stages, as disagg-profile-handler does itself by now. (llm-d: disagg-headers-handler) */
export class DisaggHeadersHandler implements PreRequest {
  readonly typedName: TypedName
  readonly prefillProfile: string
  readonly encodeProfile: string

  constructor(name: string, prefillProfile: string, encodeProfile: string) {
    this.typedName = { type: TYPE, name }
    this.prefillProfile = prefillProfile
    this.encodeProfile = encodeProfile
  }

  preRequest(request: Request | undefined, result: SchedulingResult | undefined): void {
    if (request === undefined || result === undefined) return
    writeStageHeaders(request, result, this.prefillProfile, this.encodeProfile)
  }
}

const create = (context: PluginContext): DisaggHeadersHandler => {
  const fields = { prefillProfile: text('prefill'), encodeProfile: text('encode') }
  const prefix = `failed to parse the parameters of the '${TYPE}' pre-request plugin - `
  const { prefillProfile, encodeProfile } = decodeParametersOf(prefix, context.parameters, fields)
  return new DisaggHeadersHandler(context.name, prefillProfile, encodeProfile)
}

const deprecated = { since: 'v0.9.0', removal: 'v0.11.0', replacement: 'disagg-profile-handler' }

export const disaggHeadersHandler: PluginType = { type: TYPE, kinds: ['pre-request'], stability: 'beta', deprecated, create }

/** The old name; what it makes is of the type disagg-headers-handler. */
export const prefillHeaderHandler: PluginType = { type: 'prefill-header-handler', kinds: ['pre-request'], stability: 'beta', deprecated, create }
