import type { CompletedConfiguration, ConfiguredProfile } from '../../core/configuration.ts'
import { ENDPOINT_PICKER_KIND, ENDPOINT_PICKER_VERSION } from './document.ts'

type Plain = Readonly<Record<string, unknown>>

/** A completed configuration as the document that reads back to it, with nothing left to inject. */
export const endpointPickerDocument = (completed: CompletedConfiguration): Plain => {
  const { dataLayer } = completed
  return {
    apiVersion: ENDPOINT_PICKER_VERSION,
    kind: ENDPOINT_PICKER_KIND,
    featureGates: Object.entries(completed.featureGates).map(([name, on]) => `${name}=${String(on)}`),
    plugins: completed.plugins.map(({ name, type, parameters }) => ({
      ...(name === type ? {} : { name }),
      type,
      ...(parameters === undefined ? {} : { parameters }),
    })),
    schedulingProfiles: completed.profiles.map((profile) => ({ name: profile.name, plugins: entriesOf(profile) })),
    dataLayer: {
      injectDefaults: false,
      sources: dataLayer.sources.map(({ source, extractors }) => ({ ...refer(source), extractors: extractors.map(refer) })),
      ...(dataLayer.discovery === undefined ? {} : { discovery: refer(dataLayer.discovery) }),
    },
    flowControl: { ...(completed.flowControl as Plain), saturationDetector: refer(completed.saturationDetector) },
    requestHandler: { parsers: completed.parsers.map(refer) },
  }
}

const refer = (pluginRef: string): Plain => ({ pluginRef })

/**
 * The entries of a profile: filters, scorers and picker in their orders. A plugin that is filter and scorer stands once, so the
 * two lists are merged at the plugins which they share.
 */
const entriesOf = ({ filters, scorers, picker }: ConfiguredProfile): readonly Plain[] => {
  const entries: Plain[] = []
  const names = new Set<string>()
  const left = [...scorers]
  const add = (pluginRef: string, weight?: number): void => {
    names.add(pluginRef)
    entries.push(weight === undefined ? { pluginRef } : { pluginRef, weight })
  }
  for (const filter of filters) {
    const shared = left.findIndex(({ plugin }) => plugin === filter)
    for (const { plugin, weight } of left.splice(0, shared + 1)) add(plugin, weight)
    if (shared < 0) add(filter)
  }
  for (const { plugin, weight } of left) add(plugin, weight)
  if (!names.has(picker)) add(picker)
  return entries
}
