export { RenderClient } from './render-client.ts'
export type { RenderRequest } from './render-client.ts'
