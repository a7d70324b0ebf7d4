import { expect } from 'vitest'
import { fromProducer, IN_FLIGHT_LOAD, keyText, PREFIX_CACHE_MATCH_INFO, UNCACHED_REQUEST_TOKENS } from '../../src/core/attribute.ts'
import { inflightLoadProducer, type InFlightLoadProducer } from '../../src/plugins/producer/inflight-load-producer/index.ts'
import { splitEndpointId } from '../../src/plugins/producer/inflight-load-producer/load-gauges.ts'
import { loadView } from '../../src/plugins/producer/inflight-load-producer/load-view.ts'
import { TokenEstimator } from '../../src/plugins/producer/inflight-load-producer/token-estimator.ts'
import { Desk, endpoint, make, prompt, request } from '../unit/plugins/given.ts'
import { LoadStory, type Step } from './load-story.ts'
import { expectConfigured, matchInfo, parametersOf, schedulingResult, type Attribute, type Configured } from './plugin-cases.ts'
import { expectMatch, forEachCase, messageOf, type Case } from './runner.ts'

type Settings = Readonly<Record<string, unknown>>

const story = (vector: Case<Settings, { steps: readonly Step[] }>): void => new LoadStory(vector.config).tell(vector.input.steps)

const producerOf = (config: Settings, desk: Desk = new Desk()): InFlightLoadProducer => {
  const { instanceName, ...parameters } = config
  return make<InFlightLoadProducer>(inflightLoadProducer, { ...parameters, release: 'llm-d' }, desk, [], instanceName as string | undefined)
}

const keysOf = (vector: Case<Settings>): { required: string[]; optional: string[]; keys: string[] } => {
  const producer = producerOf(vector.config)
  const { required, optional = [] } = producer.consumes()
  return { required: required.map(keyText), optional: optional.map(keyText), keys: producer.produces().map(keyText) }
}

interface Seeded {
  readonly [endpoint: string]: { readonly requests?: number; readonly tokens?: number } | string
}

/** "default/pod-000 .. default/pod-104 with requests = number" in words, else rows. */
const rowsOf = (seed: Seeded): { endpoint: string; requests: number; tokens: number }[] => {
  const { generate } = seed
  if (typeof generate !== 'string') return Object.entries(seed).map(([id, load]) => ({ endpoint: id, requests: 0, tokens: 0, ...(load as object) }))
  const [, prefix = '', first = '', last = ''] = /^(.*?)(\d+) \.\. .*?(\d+) with requests = number/.exec(generate) ?? []
  return Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => {
    const number = Number(first) + index
    return { endpoint: `${prefix}${String(number).padStart(first.length, '0')}`, requests: number, tokens: 0 }
  })
}

interface Dumped {
  readonly json?: unknown
  readonly order?: readonly string[]
  readonly length?: number
  readonly first?: unknown
  readonly last?: unknown
  readonly truncated?: boolean
  readonly totalEndpoints?: number
  readonly maxEndpoints?: number
}

forEachCase('inflight-load.json', {
  lifecycle: story,
  gauges: story,
  uncachedInput: (vector: Case<{ prefixMatchInfoProducerName?: string }, { inputTokens: number; prefix: (Exclude<Attribute, string | null> & { key?: string }) | null }, { tokens: number }>) => {
    const desk = new Desk()
    const producer = producerOf(vector.config, desk)
    const one = endpoint('ep')
    const { prefix, inputTokens } = vector.input
    const info = matchInfo(prefix)
    if (info !== undefined) desk.writer(fromProducer(PREFIX_CACHE_MATCH_INFO, prefix?.key ?? '')).put(one, info)
    producer.produce(request({ tokens: inputTokens }), [one])
    expect(desk.reader(UNCACHED_REQUEST_TOKENS).get(one)?.tokens).toBe(vector.expected.tokens)
  },
  consumes: (vector: Case<Settings, unknown, object>) => expectMatch(keysOf(vector), vector.expected),
  produces: (vector: Case<Settings, unknown, object>) => expectMatch(keysOf(vector), vector.expected),
  dumpState: (vector: Case<Settings, { seed: Seeded }, Dumped>) => {
    const view = loadView(rowsOf(vector.input.seed))
    const { json, order, length, first, last, ...totals } = vector.expected
    expectMatch(view, totals)
    if (json !== undefined) expect(view).toEqual(json)
    if (order !== undefined) expect(view.endpoints.map((row) => row.endpoint)).toEqual(order)
    if (length !== undefined) expect(view.endpoints).toHaveLength(length)
    if (first !== undefined) expect(view.endpoints[0]).toEqual(first)
    if (last !== undefined) expect(view.endpoints.at(-1)).toEqual(last)
  },
  config: (vector: Case<{ handle?: null; metricsRegistry?: null }, { parameters?: unknown; instances?: number }, Configured & { estimateOutput?: readonly [number, number | null, number][] }>) => {
    const { handle, metricsRegistry } = vector.config
    if (handle === null || metricsRegistry === null) {
      // What llm-d calls handle and registry comes with setup(): without it the first hook fails.
      const bare = inflightLoadProducer.create({ name: 'it', parameters: parametersOf(vector.input), plugin: () => undefined, warn: () => undefined }) as InFlightLoadProducer
      const hook = () => bare.preRequest(request(), { primary: 'default', results: new Map([['default', { endpoints: [endpoint('ep')] }]]) })
      expect(messageOf(hook)).toContain(vector.expected.messageContains)
      return
    }
    const create = (): InFlightLoadProducer => {
      const desk = new Desk()
      const made = Array.from({ length: vector.input.instances ?? 1 }, () => make<InFlightLoadProducer>(inflightLoadProducer, parametersOf(vector.input), desk))
      return made.at(-1) as InFlightLoadProducer
    }
    expectConfigured(create, vector.expected, ({ estimator, settings }, { estimateOutput, ...rest }) => {
      expectMatch(settings, rest)
      for (const [input, cap, output] of (estimateOutput ?? []) as readonly [number, number | null, number][]) {
        expect(estimator.estimateOutput(input, cap ?? undefined)).toBe(output)
      }
    })
  },
  splitId: (vector: Case<object, { id: string }, { endpoint_name: string; namespace: string }>) => {
    const { name, namespace } = splitEndpointId(vector.input.id)
    expect({ endpoint_name: name, namespace }).toEqual(vector.expected)
  },
  // Entries are copied by saving and loading.
  entryClone: (vector: Case<object, { entry: { endpointName: string; namespace: string; producerName: string; fairnessId: string; priority: string; tokens: number; requests: number } }, { sameValues: boolean; cloneOfNull: null }>) => {
    const { endpointName, namespace, producerName, fairnessId, priority, tokens, requests } = vector.input.entry
    const target = endpoint(endpointName, { id: `${namespace}/${endpointName}` })
    const original = producerOf({ instanceName: producerName })
    for (let i = 0; i < requests; i++) {
      original.preRequest(request({ tokens: tokens / requests, fairnessId, priority: Number(priority) }), schedulingResult(new Map([['default', { endpoints: [target] }]]), 'default'))
    }
    const desk = new Desk()
    const copy = producerOf({ instanceName: producerName }, desk)
    copy.load(original.save(), [target])
    expect({ requests: copy.requestsOn(target.id), tokens: copy.tokensOn(target.id) }).toEqual({ requests, tokens })
    expect(desk.metric('inflight_tokens', { endpoint_name: endpointName, namespace, producer_name: producerName, fairness_id: fairnessId, priority })).toBe(tokens)
    expect(copy.save()).toEqual(original.save())
    expect(vector.expected).toEqual({ sameValues: true, cloneOfNull: null })
  },
  // Peers tell assignments; what is no load cannot be told.
  crossReplica: (vector: Case<Settings, { values?: readonly ({ requests: number; tokens: number } | string)[] }, { aggregate?: { requests: number; tokens: number } }>) => {
    const desk = new Desk()
    const producer = producerOf(vector.config, desk)
    const target = endpoint('ep')
    vector.input.values?.forEach((value, replica) => {
      if (typeof value === 'string') return
      const assigned = Array.from({ length: value.requests }, (_, index) => ({
        request: index, attempt: 1, profile: 'default', endpoint: target.id, incarnation: '', promptTokens: index === 0 ? value.tokens : 0, outputTokens: 0, blocks: [],
      }))
      producer.peerLoad({ replica: `replica-${replica}`, opens: true, assigned, released: [] })
    })
    expect(desk.reader(fromProducer(IN_FLIGHT_LOAD, producer.typedName.name)).get(target)).toEqual(vector.expected.aggregate ?? { requests: 0, tokens: 0 })
  },
})

type Estimator = { readonly outputRatio: number; readonly maxEstimatedOutputTokens: number | null }
type Counted = { readonly absent?: boolean; readonly promptTokenCounts?: readonly number[] | null; readonly maxOutputTokens?: number }

const countedRequest = ({ absent, promptTokenCounts, maxOutputTokens }: Counted) =>
  absent === true
    ? undefined
    : request({ maxOutputTokens, shape: { tokenized: Boolean(promptTokenCounts), prompts: (promptTokenCounts ?? []).map((tokens) => prompt(tokens)), problem: '' } })

const estimatorOf = ({ outputRatio, maxEstimatedOutputTokens }: Partial<Estimator>): TokenEstimator => new TokenEstimator(outputRatio ?? 1.5, maxEstimatedOutputTokens ?? undefined)

forEachCase('inflight-token-estimator.json', {
  total: (vector: Case<Estimator, Counted, { tokens: number }>) => expect(estimatorOf(vector.config).estimate(countedRequest(vector.input))).toBe(vector.expected.tokens),
  input: (vector: Case<Partial<Estimator>, Counted, { tokens: number }>) => expect(estimatorOf(vector.config).estimateInput(countedRequest(vector.input))).toBe(vector.expected.tokens),
  output: (vector: Case<Estimator, { inputTokens: number; clientCap: number | null }, { tokens: number }>) =>
    expect(estimatorOf(vector.config).estimateOutput(vector.input.inputTokens, vector.input.clientCap ?? undefined)).toBe(vector.expected.tokens),
})
