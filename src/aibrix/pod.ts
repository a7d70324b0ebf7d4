/** What the router reads of an endpoint; an engine's `Endpoint` is one. */
export interface Pod {
  /** Names it in trackers, in the prefix table and in results. */
  readonly id: string
  readonly address: string
  readonly labels: ReadonlyMap<string, string>
  readonly annotations: ReadonlyMap<string, string>
}

export const LABELS = {
  roleset: 'roleset-name',
  role: 'role-name',
  groupIndex: 'stormservice.orchestration.aibrix.ai/pod-group-index',
  replicaIndex: 'stormservice.orchestration.aibrix.ai/role-replica-index',
  engine: 'model.aibrix.ai/engine',
  port: 'model.aibrix.ai/port',
  connector: 'model.aibrix.ai/kv-connector-type',
  model: 'model.aibrix.ai/name',
} as const

export const ANNOTATIONS = {
  config: 'model.aibrix.ai/config',
  bootstrapPort: 'model.aibrix.ai/sglang-bootstrap-port',
} as const

export const PREFILL_ROLE = 'prefill'
export const DECODE_ROLE = 'decode'

/** Port where no label tells another. */
const DEFAULT_PORT = 8000
const DEFAULT_ENGINE = 'vllm'
/** The only group index that serves HTTP: the first process of a model that spans several. */
const SERVING_GROUP_INDEX = '0'
const INT32_MAX = 2_147_483_647n
const INT32_MIN = -2_147_483_648n

/** The roleset; an empty one is a roleset of its own, undefined is none. */
export const rolesetOf = (pod: Pod): string | undefined => pod.labels.get(LABELS.roleset)

export const roleOf = (pod: Pod): string | undefined => pod.labels.get(LABELS.role)

/** Whether it has an HTTP server, as the index within its group tells; without an index it has. */
export const servesHttp = (pod: Pod): boolean => (pod.labels.get(LABELS.groupIndex) ?? SERVING_GROUP_INDEX) === SERVING_GROUP_INDEX

/** The inference engine; a label that is there but empty stays empty and is no known engine. */
export const engineOf = (pod: Pod): string => pod.labels.get(LABELS.engine) ?? DEFAULT_ENGINE

/** The service port that a label tells, else 8000. For those that announce endpoints: an endpoint has a port of its own. */
export const servicePortOf = (pod: Pod): number => int32(pod.labels.get(LABELS.port)) ?? DEFAULT_PORT

/** A decimal whole number of 32 bits, signed; undefined for anything else. (Go: strconv.ParseInt) */
export const int32 = (text: string | undefined): number | undefined => {
  if (text === undefined || !/^[+-]?\d+$/.test(text)) return undefined
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text)
  return value < INT32_MIN || value > INT32_MAX ? undefined : Number(value)
}

/**
 * The engine that all pods share. (AIBrix: engine validation)
 * @throws Error when there are none, or when two differ
 */
export const commonEngine = (pods: readonly Pod[]): string => {
  const [first] = pods
  if (first === undefined) throw new Error('no pods provided')
  const engine = engineOf(first)
  const other = pods.find((pod) => engineOf(pod) !== engine)
  if (other !== undefined) throw new Error(`inconsistent LLM engines detected: pod ${first.id} has ${engine}, pod ${other.id} has ${engineOf(other)}`)
  return engine
}
