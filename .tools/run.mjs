// Usage: node .tools/run.mjs FILE [ARGUMENT...]: prepares the clone, then runs the file on Node.js 24 or newer.
import { become, prepare } from './setup.mjs'

become(prepare(), ['--disable-warning=ExperimentalWarning', ...process.argv.slice(2)])
