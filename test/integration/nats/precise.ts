import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Writes a configuration that goes by the precise producer alone, and gives its file. Tokens are counted at the URL. */
export const preciseConfiguration = (folder: string, renderUrl: string): string => {
  const file = join(folder, 'epp.yaml')
  writeFileSync(file, `
apiVersion: llm-d.ai/v1alpha1
kind: EndpointPickerConfig
plugins:
  - type: token-producer
    parameters: { modelName: sim-model, vllm: { url: ${renderUrl} } }
  - type: precise-prefix-cache-producer
    parameters: { tokenProcessorConfig: { blockSizeTokens: 16 } }
  - type: prefix-cache-scorer
    parameters: { prefixMatchInfoProducerName: precise-prefix-cache-producer }
schedulingProfiles:
  - name: default
    plugins:
      - pluginRef: prefix-cache-scorer
`)
  return file
}

/** What somebody says; each turn some 100 tokens more. */
export const conversation = (name: string, turns: number): string =>
  Array.from({ length: turns }, (_, turn) => `${name} says for the ${turn}th time what nobody may read. `.repeat(8)).join('')

/** Sends a prompt and gives the number of its tokens that the engine found in its cache. */
export const ask = async (url: string, content: string): Promise<number> => {
  const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', body: JSON.stringify({ model: 'sim-model', max_tokens: 1, messages: [{ role: 'user', content }] }) })
  const { usage } = (await response.json()) as { usage: { prompt_tokens_details: { cached_tokens: number } } }
  return usage.prompt_tokens_details.cached_tokens
}
