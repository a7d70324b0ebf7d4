import { expect } from 'vitest'
import { PREFIX_CACHE_MATCH_INFO } from '../../src/core/attribute.ts'
import { tokensOf, type Request } from '../../src/core/request.ts'
import { AlwaysDisaggMultimodalDecider } from '../../src/plugins/decider/always-disagg-multimodal-decider/index.ts'
import { prefixBasedPdDecider, type PrefixBasedPdDecider } from '../../src/plugins/decider/prefix-based-pd-decider/index.ts'
import { Desk, endpoint, make, prompt, request } from '../unit/plugins/given.ts'
import { expectConfigured, matchInfo, parametersOf, type Attribute, type Configured } from './plugin-cases.ts'
import { expectMatch, forEachCase, type Case } from './runner.ts'

interface Counted {
  readonly promptTokenCounts?: readonly number[] | null
  readonly absent?: boolean
  readonly noBody?: boolean
}

const counted = ({ promptTokenCounts, absent }: Counted): Request | undefined => {
  if (absent === true) return undefined
  const prompts = (promptTokenCounts ?? []).map((tokens) => prompt(tokens))
  return request({ shape: { tokenized: Boolean(promptTokenCounts), prompts, problem: '' } })
}

forEachCase('prefix-based-pd-decider.json', {
  config: (vector: Case<object, { parameters?: unknown; rawJSON?: string | null }, Configured>) =>
    expectConfigured(() => make<PrefixBasedPdDecider>(prefixBasedPdDecider, parametersOf(vector.input)), vector.expected, (made, settings) => expectMatch(made.settings, settings)),
  decide: (vector: Case<object, { request: Counted; endpoint: { prefixCacheMatchInfo: Attribute } | null }, { disaggregate: boolean }>) => {
    const desk = new Desk()
    const decider = make<PrefixBasedPdDecider>(prefixBasedPdDecider, vector.config, desk)
    const target = vector.input.endpoint === null ? undefined : endpoint('e')
    const info = matchInfo(vector.input.endpoint?.prefixCacheMatchInfo)
    if (target !== undefined && info !== undefined) desk.writer(PREFIX_CACHE_MATCH_INFO).put(target, info)
    expect(decider.runs(counted(vector.input.request), target)).toBe(vector.expected.disaggregate)
  },
  promptLength: (vector: Case<object, { request: Counted }, { tokens: number }>) => {
    const one = counted(vector.input.request)
    expect(one === undefined ? 0 : tokensOf(one)).toBe(vector.expected.tokens)
  },
})

forEachCase('always-disagg-multimodal-decider.json', {
  case: (vector: Case<object, { prompts?: readonly (readonly string[])[] | null; absent?: boolean }, { disaggregate: boolean }>) => {
    const { prompts, absent } = vector.input
    const shape = { tokenized: Boolean(prompts), prompts: (prompts ?? []).map((modalities) => prompt(1, modalities)), problem: '' }
    expect(new AlwaysDisaggMultimodalDecider().runs(absent === true ? undefined : request({ shape }))).toBe(vector.expected.disaggregate)
  },
})
