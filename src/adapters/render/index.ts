export { RenderClient } from './render-client.ts'
