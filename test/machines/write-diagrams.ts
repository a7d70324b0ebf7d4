/** Writes the diagrams into the machines' READMEs: `node test/machines/write-diagrams.ts`. */

import { writeDiagram } from './readme.ts'
import { endpoint, journalLink, request } from './subjects.ts'

writeDiagram('request', request.machine)
writeDiagram('endpoint', endpoint.machine)
writeDiagram('journal-link', journalLink.machine)
