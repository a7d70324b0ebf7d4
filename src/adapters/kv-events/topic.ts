/** Whose events a message tells, and of which model; '' where the topic does not say. */
export interface Topic {
  readonly pod: string
  readonly model: string
}

/** Reads "kv@<pod>@<model>"; a model's name may have more of the signs. Any other topic is the pod as a whole. (llm-d: KV events) */
export const topicOf = (text: string): Topic => {
  const first = text.indexOf('@')
  const second = first < 0 ? -1 : text.indexOf('@', first + 1)
  return second < 0 ? { pod: text, model: '' } : { pod: text.slice(first + 1, second), model: text.slice(second + 1) }
}
