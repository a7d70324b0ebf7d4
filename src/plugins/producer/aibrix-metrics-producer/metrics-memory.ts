import { loadJson, saveJson } from '../../saved-json.ts'
import type { SavedMeter } from './endpoint-meter.ts'

/** What the producer remembers: meters by life, and which request runs on which life. */
export interface MetricsMemory {
  readonly meters: readonly (readonly [life: number, meter: SavedMeter])[]
  readonly running: readonly (readonly [key: number, life: string])[]
}

export const encodeMetricsMemory = (meters: MetricsMemory['meters'], running: MetricsMemory['running']): Uint8Array =>
  saveJson({ meters: [...meters].sort(([a], [b]) => a - b), running: [...running].sort(([a], [b]) => a - b) } satisfies MetricsMemory)

/** @throws SignalboxError state-invalid on bytes that the producer did not write */
export const decodeMetricsMemory = (bytes: Uint8Array): MetricsMemory =>
  loadJson(bytes, 'an aibrix-metrics-producer', (value): value is MetricsMemory => {
    const memory = value as Partial<MetricsMemory> | null | undefined
    return Array.isArray(memory?.meters) && Array.isArray(memory.running)
  })
