// Generated from schemas/ by schemas/generate/main.ts. Change the .proto file and generate again.
export { fromBytes, Reader, toBytes, WireError, Writer } from './runtime.ts'
export * from './decision.ts'
export * from './endpoint.ts'
export * from './input.ts'
export * from './journal.ts'
export * from './nats.ts'
export * from './request.ts'
export * from './state.ts'
