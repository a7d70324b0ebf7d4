import { Document, isMap, isScalar, isSeq } from 'yaml'
import type { Node } from 'yaml'
import { endpointPickerDocument } from '../endpoint-picker/written.ts'
import type { LoadedConfiguration } from '../load.ts'
import { settingsDocument } from '../signalbox/document.ts'
import { OLD_BOOLEANS } from '../yaml/document.ts'

const WIDE = 160

/** A text that would be read as a boolean is quoted. */
const READ_BACK = { customTags: [OLD_BOOLEANS] }

/** The completed configuration as YAML that loads as it is; comments tell what was added and why. */
export const completedYaml = (loaded: LoadedConfiguration): string => {
  const picker = new Document(endpointPickerDocument(loaded.completed), READ_BACK)
  annotate(picker, loaded)
  const settings = new Document(settingsDocument(loaded.settings), READ_BACK)
  return `${picker.toString({ lineWidth: WIDE })}---\n${settings.toString({ lineWidth: WIDE })}`
}

const annotate = (document: Document, { completed, injections, notes }: LoadedConfiguration): void => {
  const note = (path: readonly (string | number)[], text: string): void => {
    const node = document.getIn(path, true)
    const target = isMap(node) ? lastValue(node.items.at(-1)?.value) : node
    if (isScalar(target)) target.comment = ` ${text}`
    else if (isMap(target) || isSeq(target)) target.commentBefore = ` ${text}`
  }
  completed.plugins.forEach(({ name }, index) => {
    const why = injections.get(name)
    if (why !== undefined) note(['plugins', index], `added: ${why}`)
  })
  completed.profiles.forEach(({ name }, index) => {
    if (notes.profiles !== undefined) note(['schedulingProfiles', index, 'name'], `added: ${notes.profiles}`)
    const entries = document.getIn(['schedulingProfiles', index, 'plugins'])
    if (notes.pickers.has(name) && isSeq(entries)) note(['schedulingProfiles', index, 'plugins', entries.items.length - 1], 'added: the profile had no picker')
  })
  completed.dataLayer.sources.forEach(({ source }, index) => {
    if (notes.sources.has(source)) note(['dataLayer', 'sources', index, 'pluginRef'], 'added: metrics are read by default')
  })
  if (notes.saturationDetector) note(['flowControl', 'saturationDetector'], 'added: the default detector')
  if (notes.parsers) completed.parsers.forEach((_, index) => { note(['requestHandler', 'parsers', index], 'added: default parser') })
}

const lastValue = (value: unknown): Node | undefined => (isScalar(value) || isMap(value) || isSeq(value) ? value : undefined)
