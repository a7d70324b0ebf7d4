import type { LoadAssigned, LoadReleased } from '../../wire/index.ts'

/** While the broker is away for long, what peers would learn of the oldest requests is given up. */
const BYTES_MAX = 8 * 1024 * 1024

/**
 * Assignments with block keys that peers may not have heard: an open set replaces what is held, but says nothing of
 * prompts that were told before or whose requests are over.
 */
export class UnheardBlocks {
  private loads: LoadAssigned[] = []
  private bytes = 0

  add(assigned: readonly LoadAssigned[]): void {
    for (const load of assigned) {
      if (load.blocks.length === 0) continue
      this.loads.push(load)
      this.bytes += bytesOf(load)
    }
    if (this.bytes <= BYTES_MAX) return
    let dropped = 0
    while (this.bytes > BYTES_MAX) this.bytes -= bytesOf(this.loads[dropped++] as LoadAssigned)
    this.loads = this.loads.slice(dropped)
  }

  /** The open set with these keys in it. Requests that are over by now are assigned and at once released. */
  addedTo(open: readonly LoadAssigned[]): { readonly assigned: readonly LoadAssigned[]; readonly released: readonly LoadReleased[] } {
    const held = new Map(open.map((load) => [keyOf(load), load]))
    const over: LoadAssigned[] = []
    for (const load of this.loads) {
      const now = held.get(keyOf(load))
      if (now?.endpoint === load.endpoint) held.set(keyOf(load), { ...now, blocks: load.blocks })
      else over.push(load)
    }
    const released = over.filter((load) => !held.has(keyOf(load))).map(({ request, attempt, profile }) => ({ request, attempt, profile }))
    return { assigned: [...over, ...held.values()], released }
  }

  /** To be called when all were heard. */
  clear(): void {
    this.loads = []
    this.bytes = 0
  }
}

const keyOf = ({ request, attempt, profile }: LoadAssigned): string => `${request} ${attempt} ${profile}`

const bytesOf = ({ blocks }: LoadAssigned): number => blocks.reduce((sum, { keys }) => sum + keys.length, 0)
