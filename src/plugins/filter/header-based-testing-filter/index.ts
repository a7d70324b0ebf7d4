import { splitHostPort } from '../../../core/address.ts'
import type { Filter, PluginType, TypedName } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import type { Request } from '../../../core/request.ts'
import { ignoreParameters } from '../../no-parameters.ts'
import { keep } from '../keep.ts'

const TYPE = 'header-based-testing-filter'
const HEADER = 'test-epp-endpoint-selection'

/**
 * For tests: keeps the endpoints that the request's header names, by address or by address and port; none without the
 * header. (llm-d: header-based-testing-filter)
 */
export class HeaderBasedTestingFilter implements Filter {
  readonly typedName: TypedName

  constructor(name: string = TYPE) {
    this.typedName = { type: TYPE, name }
  }

  receives(): readonly string[] {
    return [HEADER]
  }

  filter(request: Request, candidates: readonly Endpoint[]): readonly Endpoint[] {
    const wanted = (request.received.get(HEADER) ?? '').split(',').map((item) => splitHostPort(item.trim()))
    return keep(candidates, ({ address, port }) => wanted.some((item) => item.host === address && (item.port === undefined || item.port === String(port))))
  }
}

export const headerBasedTestingFilter: PluginType = {
  type: TYPE,
  kinds: ['filter'],
  stability: 'beta',
  create: (context) => {
    ignoreParameters(TYPE, context)
    return new HeaderBasedTestingFilter(context.name)
  },
}
