import { loadConfiguration } from '../../../src/config/load.ts'
import type { ConfigurationInput, LoadedConfiguration } from '../../../src/config/load.ts'
import { AggregateConfigurationError, warningText } from '../../../src/config/problems.ts'
import { placeText } from '../../../src/core/errors.ts'
import { SAMPLE_TYPES } from './sample-types.ts'

const HEAD = 'apiVersion: llm-d.ai/v1alpha1\nkind: EndpointPickerConfig\n'

/** An EndpointPickerConfig whose body begins on line 3. */
export const picker = (body: string): string => `${HEAD}${body}`

export const load = (text: string, input: Partial<ConfigurationInput> = {}): LoadedConfiguration =>
  loadConfiguration({ texts: [{ file: 'c.yaml', text }], pluginTypes: SAMPLE_TYPES, ...input })

/** "code message (place)" of each error; none when it loads. */
export const errorsOf = (text: string, input: Partial<ConfigurationInput> = {}): readonly string[] => {
  try {
    load(text, input)
  } catch (error) {
    if (!(error instanceof AggregateConfigurationError)) throw error
    return error.errors.map(({ code, message, place }) => `${code}: ${message}${place === undefined ? '' : ` (${placeText(place)})`}`)
  }
  return []
}

export const warningsOf = (text: string, input: Partial<ConfigurationInput> = {}): readonly string[] => load(text, input).warnings.map(warningText)
