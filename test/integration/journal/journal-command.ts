import { journalCommand } from '../../../src/cli/journal.ts'

await journalCommand().parseAsync(process.argv.slice(2), { from: 'user' })
