import { Column, keyText, type DataKey } from '../../../src/core/attribute.ts'
import type { Observation, Plugin, PluginContext, PluginType, Services } from '../../../src/core/contract.ts'
import { Endpoint, type EndpointDescription, type Metrics } from '../../../src/core/endpoint.ts'
import type { RandomStream } from '../../../src/core/random.ts'
import type { PromptShape, Request, ResponseStep } from '../../../src/core/request.ts'

let lives = 0

/** An endpoint "default/<name>" at 10.0.0.1:8000, each time a new life. */
export const endpoint = (name: string, fields: Partial<Metrics & EndpointDescription & { slot: number; heardAt: number }> = {}): Endpoint => {
  lives += 1
  const { slot = lives, id = name.includes('/') ? name : `default/${name}`, ...rest } = fields
  const made = new Endpoint(
    { id, address: '10.0.0.1', port: 8000, labels: new Map(), annotations: new Map(), incarnation: '', metricsHostPort: '', ...rest },
    slot,
    lives,
  )
  const { address: _a, port: _p, labels: _l, annotations: _n, incarnation: _i, metricsHostPort: _m, ...metrics } = rest
  return Object.assign(made, metrics)
}

export const prompt = (tokens: number, modalities: readonly string[] = []): PromptShape => ({
  tokens,
  blocks: [],
  media: modalities.map((modality, index) => ({ modality, hash: String(index), offset: 0, length: 1 })),
})

let keys = 0

/** A request of so many tokens; each time another key. */
export const request = (fields: Partial<Request> & { readonly tokens?: number } = {}): Request => {
  keys += 1
  const { tokens, ...rest } = fields
  return {
    key: keys,
    id: `r${keys}`,
    api: 'openai-chat',
    model: 'm',
    targetModel: 'm',
    priority: 0,
    objective: '',
    fairnessId: '',
    received: new Map(),
    headers: new Map(),
    streaming: true,
    bodyBytes: 0,
    maxOutputTokens: undefined,
    shape: { tokenized: true, prompts: [prompt(tokens ?? 0)], problem: '' },
    receivedAt: 0,
    attempt: 1,
    attributes: new Map(),
    result: undefined,
    ...rest,
  }
}

export const step = (startOfStream: boolean, endOfStream: boolean): ResponseStep => ({
  startOfStream,
  endOfStream,
  usage: undefined,
  cause: endOfStream ? 'natural' : undefined,
})

/** Gives the numbers it was told, the last one over and over. */
export class ScriptedDie implements RandomStream {
  private readonly numbers: number[]

  constructor(...numbers: number[]) {
    this.numbers = numbers
  }

  next(): number {
    const [first] = this.numbers
    if (first === undefined) throw new Error('nothing should be drawn here')
    if (this.numbers.length > 1) this.numbers.shift()
    return first
  }

  below(bound: number): number {
    return Math.floor(this.next() * bound)
  }
}

/** What plugins ask of the engine: columns by key, and a record of what was observed. */
export class Desk implements Services {
  readonly columns = new Map<string, Column<unknown>>()
  readonly observations: Observation[] = []
  random: RandomStream = new ScriptedDie()
  time = 0
  present: Endpoint[] = []

  reader<T>(key: DataKey<T>): Column<T> {
    return this.column(key)
  }

  writer<T>(key: DataKey<T>): Column<T> {
    return this.column(key)
  }

  die(): RandomStream {
    return this.random
  }

  now(): number {
    return this.time
  }

  endpoints(): readonly Endpoint[] {
    return this.present
  }

  observe(observation: Observation): void {
    this.observations.push(observation)
  }

  /** The value of a series as a metrics page would show it; undefined when it was never observed. */
  metric(name: string, labels: Readonly<Record<string, string>>): number | undefined {
    const series = this.observations.filter((one) => one.name === name && sameLabels(one.labels, labels))
    if (series.length === 0) return undefined
    return series.reduce((value, one) => (one.kind === 'gauge' ? one.value : value + one.value), 0)
  }

  private column<T>(key: DataKey<T>): Column<T> {
    const text = keyText(key)
    let column = this.columns.get(text)
    if (column === undefined) {
      column = new Column<unknown>()
      this.columns.set(text, column)
    }
    return column as Column<T>
  }
}

const sameLabels = (a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean =>
  Object.keys(a).length === Object.keys(b).length && Object.entries(a).every(([name, value]) => b[name] === value)

export const context = (parameters: unknown, others: readonly Plugin[] = [], name = 'it'): PluginContext & { readonly warnings: string[] } => {
  const warnings: string[] = []
  return {
    name,
    parameters,
    plugin: (wanted) => others.find((plugin) => plugin.typedName.name === wanted),
    warn: (message) => warnings.push(message),
    warnings,
  }
}

/** Makes a plugin of a type and sets it up at the desk. */
export const make = <P extends Plugin>(type: PluginType, parameters: unknown = undefined, desk: Desk = new Desk(), others: readonly Plugin[] = [], name: string = type.type): P => {
  const plugin = type.create(context(parameters, others, name))
  plugin.setup?.(desk)
  return plugin as P
}

/** The scores a scorer gives, in the candidates' order; NaN where it wrote nothing. */
export const scores = (scorer: { score(request: Request, candidates: readonly Endpoint[], out: Float64Array): void }, candidates: readonly Endpoint[], of: Request = request()): number[] => {
  const out = new Float64Array(candidates.length).fill(NaN)
  scorer.score(of, candidates, out)
  return [...out]
}
