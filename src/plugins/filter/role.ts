import type { Filter, PluginType, TypedName } from '../../core/contract.ts'
import type { Endpoint } from '../../core/endpoint.ts'
import type { Request } from '../../core/request.ts'
import { ignoreParameters } from '../no-parameters.ts'
import { keep } from './keep.ts'

/** The label that says what an endpoint is for. (llm-d: llm-d.ai/role) */
export const ROLE_LABEL = 'llm-d.ai/role'

/** Keeps endpoints whose role is one of a list; those without a role only where that is allowed. */
class RoleFilter implements Filter {
  readonly typedName: TypedName
  private readonly roles: ReadonlySet<string>
  private readonly allowsNoRole: boolean
  private seen: readonly Endpoint[] = []
  private kept: readonly Endpoint[] = []
  private readonly passes = (endpoint: Endpoint): boolean => {
    const role = endpoint.labels.get(ROLE_LABEL)
    return role === undefined ? this.allowsNoRole : this.roles.has(role)
  }

  constructor(typedName: TypedName, roles: readonly string[], allowsNoRole: boolean) {
    this.typedName = typedName
    this.roles = new Set(roles)
    this.allowsNoRole = allowsNoRole
  }

  /** The same array of candidates holds the same endpoints with the same labels: what is left of it is remembered. */
  filter(_request: Request, candidates: readonly Endpoint[]): readonly Endpoint[] {
    if (candidates === this.seen) return this.kept
    this.kept = keep(candidates, this.passes)
    this.seen = candidates
    return this.kept
  }
}

export const roleFilter = (type: string, roles: readonly string[], allowsNoRole: boolean): PluginType => ({
  type,
  kinds: ['filter'],
  stability: 'beta',
  create: (context) => {
    ignoreParameters(type, context)
    return new RoleFilter({ type, name: context.name }, roles, allowsNoRole)
  },
})
