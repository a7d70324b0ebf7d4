import type { PluginContext } from '../../core/contract.ts'
import { decodeParametersOf, int } from '../../core/parameters.ts'

/** How many endpoints a picker gives at most, from its parameter `maxNumOfEndpoints`; 1 where that is not positive. */
export const endpointsAtMost = (type: string, context: PluginContext): number => {
  const { maxNumOfEndpoints } = decodeParametersOf(`failed to parse the parameters of the '${type}' picker - `, context.parameters, { maxNumOfEndpoints: int(1) })
  if (maxNumOfEndpoints > 0) return maxNumOfEndpoints
  context.warn(`${type}: maxNumOfEndpoints ${maxNumOfEndpoints} is not positive, 1 is used`)
  return 1
}
