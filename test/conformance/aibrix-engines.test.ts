import { expect } from 'vitest'
import {
  ANNOTATIONS, BodyError, bootstrapPortOf, connectorName, disaggRequestId, engineProtocol, failureLabels, isMachineId, LABELS, sglangBodies, validateSglangBody,
  type LegIds, type Pod, type PrefillFailure,
} from '../../src/aibrix/index.ts'
import { expectAsFile, podOf } from './aibrix-cases.ts'
import { forEachCase, type Case } from './runner.ts'

const ROOM = 9_007_199_254_740_993n
const ID = 4_398_046_511_105n
const IDS: LegIds = { bootstrapRoom: () => ROOM, disaggRequestId: () => ID }

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const textOf = (body: Uint8Array): string => new TextDecoder().decode(body)

/** A body as a value, with the words that the file has for numbers which nobody can know. */
const valueOf = (body: Uint8Array): unknown =>
  JSON.parse(textOf(body).replace(`"bootstrap_room":${ROOM}`, '"bootstrap_room":"<random room>"').replace(`"disagg_request_id":${ID}`, '"disagg_request_id":"<unique id>"'))

interface LegConfig {
  readonly engine: string
  readonly globalConnector: string
  readonly podConnectorLabel: string
  readonly podIp: string
  readonly path?: string
}

const prefillPod = ({ podIp, podConnectorLabel }: LegConfig): Pod => podOf({ name: 'p', ip: podIp, labels: { [LABELS.connector]: podConnectorLabel } })

const failing = (run: () => unknown): void => expect(run).toThrow(BodyError)

interface Merged {
  readonly error?: string
  readonly changed?: boolean
  readonly decodeBody?: unknown
  readonly bodyTextMustContain?: readonly string[]
}

const failureOf = (input: { httpStatus?: number; contextState?: string; error?: string }): PrefillFailure => {
  if (input.httpStatus !== undefined) return { kind: 'status', status: input.httpStatus }
  if (input.contextState === 'cancelled' || input.error === 'cancelled') return { kind: 'cancelled' }
  if (input.contextState === 'deadline' || input.error === 'deadline') return { kind: 'deadline' }
  return { kind: input.error === 'net-timeout' ? 'network-timeout' : 'transport' }
}

forEachCase('aibrix-engines.json', {
  sglangBodies: ({ config, input, expected }: Case<{ host: string; port: number; room: number }, { body: string }, { error?: string }>): void => {
    const make = () => sglangBodies(bytes(input.body), { host: config.host, port: config.port, room: BigInt(config.room) })
    if (expected.error !== undefined) {
      expect(make).toThrow(expected.error)
      return
    }
    const { decode, prefill } = make()
    expect({ decodeBody: textOf(decode), prefillBody: textOf(prefill) }).toEqual(expected)
  },
  sglangValidate: ({ input, expected }: Case<unknown, { body: string }, { ok: boolean; error?: string }>): void => {
    const validate = () => validateSglangBody(bytes(input.body))
    if (expected.ok) validate()
    else expect(validate).toThrow(new BodyError(expected.error))
  },
  prefillPayload: ({ config, input, expected }: Case<LegConfig, { body: string }, { error?: string; prefillPayload?: unknown; requestBodyAfter?: unknown }>): void => {
    const prepare = () => engineProtocol(config.engine, config.globalConnector).prepare(bytes(input.body), prefillPod(config), IDS)
    if (expected.error !== undefined) {
      failing(prepare)
      return
    }
    const { prefill, decode } = prepare()
    expect(valueOf(prefill)).toEqual(expected.prefillPayload)
    expect(valueOf(decode)).toEqual(expected.requestBodyAfter)
  },
  mergePrefill: ({ config, input, expected }: Case<LegConfig, { body: string; prefillResponse: string }, Merged>): void => {
    const merge = () => engineProtocol(config.engine, config.globalConnector).merge(bytes(input.body), bytes(input.prefillResponse), prefillPod(config), config.path ?? '')
    if (expected.error !== undefined) {
      failing(merge)
      return
    }
    const merged = merge()
    expect(valueOf(merged)).toEqual(expected.decodeBody)
    expect(textOf(merged) !== input.body).toBe(expected.changed)
    for (const digits of expected.bodyTextMustContain ?? []) expect(textOf(merged)).toContain(digits)
  },
  connectorType: ({ config, input, expected }: Case<{ global: string }, { label: string }>): void =>
    expectAsFile({ type: connectorName(podOf({ name: 'p', labels: { [LABELS.connector]: input.label } }), config.global) }, expected),
  trtMachineId: ({ input, expected }: Case<unknown, { id: number }>): void => expectAsFile({ ok: isMachineId(input.id) }, expected),
  trtRequestId: ({ config, input, expected }: Case<{ epochMs: number }, { counter: number; machineId: number; msSinceEpoch: number }>): void =>
    expectAsFile({ id: disaggRequestId(config.epochMs + input.msSinceEpoch, input.machineId, input.counter).toString() }, expected),
  bootstrapPort: ({ input, expected }: Case<unknown, { annotations: Readonly<Record<string, string>> | null }>): void => {
    const annotations = input.annotations ?? {}
    expect(Object.keys(annotations).every((name) => name === ANNOTATIONS.bootstrapPort)).toBe(true)
    expectAsFile({ port: bootstrapPortOf(podOf({ name: 'p', annotations })) }, expected)
  },
  failureLabels: ({ input, expected }: Case<unknown, { httpStatus?: number; contextState?: string; error?: string }>): void => expectAsFile(failureLabels(failureOf(input)), expected),
})
