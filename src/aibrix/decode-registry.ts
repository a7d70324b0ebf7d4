import { byCodeUnit } from '../core/order.ts'
import {
  CONDUCTOR, ConductorDecodePolicy, DEFAULT_WEIGHTS, LEAST_REQUEST, LeastRequestDecodePolicy, LOAD_BALANCING, LoadBalancingDecodePolicy,
  type DecodeScorePolicy, type LoadBalancingWeights,
} from './decode-policy.ts'
import { RoutingError } from './routing-error.ts'

/** Makes a policy; null says that it cannot, and then the name counts as unknown. */
export type DecodePolicyFactory = (weights: LoadBalancingWeights) => DecodeScorePolicy | null

/** The policy that a name stands for. */
export interface ResolvedDecodePolicy {
  readonly policy: DecodeScorePolicy
  /** The policy's own name. */
  readonly canonical: string
  /** Whether the name was none and load_balancing stands in. */
  readonly unknown: boolean
}

const BUILT_IN: ReadonlyMap<string, DecodePolicyFactory> = new Map<string, DecodePolicyFactory>([
  [LOAD_BALANCING, (weights) => new LoadBalancingDecodePolicy(weights)],
  [LEAST_REQUEST, () => new LeastRequestDecodePolicy()],
  [CONDUCTOR, () => new ConductorDecodePolicy()],
])

/** Decode policies by name. Registered ones go before built-in ones of the same name. (AIBrix: decode policy registry) */
export class DecodePolicies {
  private readonly registered = new Map<string, DecodePolicyFactory>()

  /** Adds or replaces a policy; names count without case and blanks around. False where there is no factory. */
  register(name: string, factory: DecodePolicyFactory | null): boolean {
    if (factory === null) return false
    this.registered.set(keyOf(name), factory)
    return true
  }

  /** All names, in order. */
  names(): readonly string[] {
    return [...new Set([...BUILT_IN.keys(), ...this.registered.keys()])].sort(byCodeUnit)
  }

  /** The policy of a name; load_balancing for none and for an unknown one. */
  resolve(name: string, weights: LoadBalancingWeights = DEFAULT_WEIGHTS): ResolvedDecodePolicy {
    const key = keyOf(name) || LOAD_BALANCING
    const policy = (this.registered.get(key) ?? BUILT_IN.get(key))?.(weights)
    if (policy === undefined || policy === null) return { policy: new LoadBalancingDecodePolicy(weights), canonical: LOAD_BALANCING, unknown: true }
    return { policy, canonical: policy.name(), unknown: false }
  }

  /**
   * The policy that a model's routingConfig asks for; undefined where it asks for none.
   * @throws RoutingError unknown-decode-policy, which names the valid ones
   */
  override(name: string, weights: LoadBalancingWeights = DEFAULT_WEIGHTS): DecodeScorePolicy | undefined {
    if (name.trim() === '') return undefined
    const { policy, unknown } = this.resolve(name, weights)
    if (unknown) throw new RoutingError('unknown-decode-policy', `unknown decodeScorePolicy "${name}" in routingConfig (valid: [${this.names().join(' ')}])`)
    return policy
  }
}

const keyOf = (name: string): string => name.trim().toLowerCase()

/** The policies that a router takes unless it is given others. */
export const decodePolicies: DecodePolicies = new DecodePolicies()

/** Adds a decode policy under a name of its own; to be called before a router is made that names it. */
export const registerDecodePolicy = (name: string, factory: DecodePolicyFactory | null): boolean => decodePolicies.register(name, factory)
