export { openJournal } from '../adapters/sqlite/open-journal.ts'
export { importPluginTypes as pluginModules } from '../config/read.ts'
