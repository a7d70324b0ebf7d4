// The front door in a process of its own, without an engine: door-process.ts ENDPOINT
import { HttpDoor } from '../../../src/adapters/http/door.ts'
import { tellPort } from './child.ts'
import { schedulingFor } from './single-endpoint.ts'

const endpoint = { id: 'bench/endpoint', hostPort: process.argv[2] ?? '' }
const door = new HttpDoor({ listen: { host: '127.0.0.1', port: 0 }, endpoints: () => [endpoint], ...schedulingFor(endpoint) })
tellPort((await door.listen()).port)
