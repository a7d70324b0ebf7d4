// Answers every message on the subject given with what it bears: what NATS itself costs.
import { NatsLink } from '../../../src/adapters/nats/connection.ts'

const [url = '', subject = ''] = process.argv.slice(2)
const link = await NatsLink.open({ servers: url, name: 'echo' })
link.connection.subscribe(subject, { queue: 'echo', callback: (error, message) => (error === null ? void message.respond(message.data) : undefined) })
await link.connection.flush()
process.stdout.write('ready\n')
