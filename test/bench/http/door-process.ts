// The front door in a process of its own: door-process.ts ENDPOINT SCHEDULER-MODULE
import { HttpDoor } from '../../../src/adapters/http/door.ts'
import { tellPort } from './child.ts'
import type { SchedulingFactory } from './single-endpoint.ts'

const endpoint = { id: 'bench/endpoint', hostPort: process.argv[2] ?? '' }
const { schedulingFor } = await import(process.argv[3] ?? './single-endpoint.ts') as { readonly schedulingFor: SchedulingFactory }
const door = new HttpDoor({ listen: { host: '127.0.0.1', port: 0 }, endpoints: () => [endpoint], ...(await schedulingFor(endpoint)) })
tellPort((await door.listen()).port)
