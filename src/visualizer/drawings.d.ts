declare module 'virtual:drawings' {
  import type { Drawing } from './machines/drawn.ts'

  export const drawings: readonly Drawing[]
}
