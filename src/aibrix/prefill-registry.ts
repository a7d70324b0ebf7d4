import type { Pod } from './pod.ts'
import type { MetricsOf } from './pod-metrics.ts'
import {
  CONDUCTOR_PREFILL, ConductorPrefillPolicy, LEAST_REQUEST_PREFILL, LeastRequestPrefillPolicy, PREFIX_CACHE, PrefixCachePrefillPolicy,
  type PrefillScorePolicy,
} from './prefill-policy.ts'
import type { PrefixTable } from './prefix-table.ts'
import { byCodeUnit } from '../core/order.ts'

/** What prefill policies are made of. */
export interface PrefillPolicyParts {
  readonly table: PrefixTable
  readonly metricsOf: MetricsOf<Pod>
}

/** Makes a policy; null says that it cannot, and then the name counts as unknown. */
export type PrefillPolicyFactory = (parts: PrefillPolicyParts) => PrefillScorePolicy | null

const BUILT_IN: ReadonlyMap<string, PrefillPolicyFactory> = new Map<string, PrefillPolicyFactory>([
  [PREFIX_CACHE, ({ table }) => new PrefixCachePrefillPolicy(table)],
  [LEAST_REQUEST_PREFILL, () => new LeastRequestPrefillPolicy()],
  [CONDUCTOR_PREFILL, ({ table, metricsOf }) => new ConductorPrefillPolicy(table, metricsOf)],
])

/** Prefill policies by name; unlike decode policies' names these count with case. Registered ones go before built-in ones. */
export class PrefillPolicies {
  private readonly registered = new Map<string, PrefillPolicyFactory>()

  /** Adds or replaces a policy. False where there is no factory. */
  register(name: string, factory: PrefillPolicyFactory | null): boolean {
    if (factory === null) return false
    this.registered.set(name.trim(), factory)
    return true
  }

  /** All names, in order. */
  names(): readonly string[] {
    return [...new Set([...BUILT_IN.keys(), ...this.registered.keys()])].sort(byCodeUnit)
  }

  /** The policy of exactly this name; undefined where there is none. */
  find(name: string, parts: PrefillPolicyParts): PrefillScorePolicy | undefined {
    return (this.registered.get(name) ?? BUILT_IN.get(name))?.(parts) ?? undefined
  }

  /** The policy of a router: of exactly this name, else prefix_cache. (AIBrix: AIBRIX_PREFILL_SCORE_POLICY) */
  resolve(name: string, parts: PrefillPolicyParts): { readonly policy: PrefillScorePolicy; readonly unknown: boolean } {
    const policy = this.find(name, parts)
    return policy === undefined ? { policy: new PrefixCachePrefillPolicy(parts.table), unknown: true } : { policy, unknown: false }
  }

  /** The policy that a model's routingConfig asks for, blanks around its name aside; undefined for none and for an unknown one. */
  override(name: string, parts: PrefillPolicyParts): PrefillScorePolicy | undefined {
    return this.find(name.trim(), parts)
  }
}

/** The policies that a router takes unless it is given others. */
export const prefillPolicies: PrefillPolicies = new PrefillPolicies()

/** Adds a prefill policy under a name of its own; to be called before a router is made that names it. */
export const registerPrefillPolicy = (name: string, factory: PrefillPolicyFactory | null): boolean => prefillPolicies.register(name, factory)
