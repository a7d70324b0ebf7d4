import { expect } from 'vitest'
import { keyText, MULTICLUSTER_KV_CACHE_USAGE, MULTICLUSTER_QUEUE_SIZE, type DataKey } from '../../src/core/attribute.ts'
import type { PluginType, Scorer } from '../../src/core/contract.ts'
import { multiclusterKvCacheUtilizationScorer } from '../../src/plugins/scorer/multicluster-kv-cache-utilization-scorer/index.ts'
import { multiclusterQueueScorer } from '../../src/plugins/scorer/multicluster-queue-scorer/index.ts'
import { Desk, endpoint, make, scores } from '../unit/plugins/given.ts'
import { forEachCase, expectMatch, type Case, type Handler } from './runner.ts'

interface Input {
  readonly attributes?: readonly (number | null)[]
  readonly endpoints?: readonly { attribute: number | null }[]
}

interface Expected {
  /** Null is an endpoint that the scorer leaves out: here, one whose score it does not write. */
  readonly scores?: readonly (number | null)[]
  readonly type?: string
  readonly name?: string
  readonly required?: readonly string[]
}

const scored = (type: PluginType, key: DataKey<number>): Handler => (vector: Case<{ instanceName?: string }, Input, Expected>) => {
  const desk = new Desk()
  const scorer = make<Scorer>(type, undefined, desk, [], vector.config.instanceName)
  const { scores: wanted, required, ...typedName } = vector.expected
  if (wanted !== undefined) {
    const values = vector.input.attributes ?? vector.input.endpoints?.map(({ attribute }) => attribute) ?? []
    const candidates = values.map((value) => {
      const made = endpoint('e')
      if (value !== null) desk.writer(key).put(made, value)
      return made
    })
    expectMatch(scores(scorer, candidates).map((score) => (Number.isNaN(score) ? null : score)), wanted, vector.tolerance)
  }
  if (required !== undefined) expect(scorer.consumes?.().required.map(keyText)).toEqual(required)
  if (typedName.type !== undefined) expect(scorer.typedName).toEqual({ type: typedName.type, name: typedName.name })
}

forEachCase('multicluster-queue-scorer.json', { case: scored(multiclusterQueueScorer, MULTICLUSTER_QUEUE_SIZE) })
forEachCase('multicluster-kv-cache-utilization-scorer.json', { case: scored(multiclusterKvCacheUtilizationScorer, MULTICLUSTER_KV_CACHE_USAGE) })
