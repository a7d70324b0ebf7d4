// Usage: node .tools/run.mjs [--tests] FILE [ARGUMENT...]
// Prepares the clone (with --tests, for the tests too), then runs the file on Node.js 24 or newer.
import { become, prepare } from './setup.mjs'

const args = process.argv.slice(2)
const tests = args[0] === '--tests'
const target = tests ? args.slice(1) : args
if (target.length === 0) {
  process.stderr.write('usage: node .tools/run.mjs [--tests] FILE [ARGUMENT...]\n')
  process.exit(2)
}
// node:sqlite works and is pinned with the Node.js version; its notice would go before every command's output.
become(prepare({ tests }), ['--disable-warning=ExperimentalWarning', ...target])
