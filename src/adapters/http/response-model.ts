import { scanObject, splice } from './json-splice.ts'
import type { Edit } from './json-splice.ts'

/** Gives a response the model's name that the client used, where the endpoint was sent another. */
export interface ModelNames {
  /** As the endpoint says it. */
  readonly from: string
  /** As the client said it. */
  readonly to: string
}

/** Objects in which the Responses API and Anthropic's nest the model. */
const NESTED = ['response', 'message'] as const

/**
 * A JSON object with its `model` renamed, at the top, in `response` and in `message`; the same bytes where there is
 * nothing to rename. Text that only looks like it, in content or arguments, is left alone.
 * (llm-d: model-name rewrite in responses, which replaces bytes wherever they stand)
 */
export const withModelRenamed = (json: Buffer, names: ModelNames): Buffer => {
  const from = Buffer.from(JSON.stringify(names.from))
  if (!json.includes(from)) return json
  const to = JSON.stringify(names.to)
  const edits: Edit[] = modelEdits(json, 0, from, to)
  for (const key of NESTED) {
    for (const { valueStart } of scanObject(json, key)?.members ?? []) edits.push(...modelEdits(json, valueStart, from, to))
  }
  return splice(json, edits)
}

const modelEdits = (json: Buffer, at: number, from: Buffer, to: string): Edit[] => {
  const edits: Edit[] = []
  for (const { valueStart, valueEnd } of scanObject(json, 'model', at)?.members ?? []) {
    if (json.subarray(valueStart, valueEnd).equals(from)) edits.push({ start: valueStart, end: valueEnd, text: to })
  }
  return edits
}
