import { join } from 'node:path'
import { readPoolRecord } from '../../src/simulation/pool/pool-file.ts'

/** Ends the simulated fleet that `start` left running for this folder: at once, whatever it is doing. */
export const endPool = async (folder: string): Promise<void> => {
  const record = await readPoolRecord(join(folder, '.signalbox', 'endpoints.pool.json'))
  if (record === undefined) return
  try {
    process.kill(record.pid, 'SIGKILL')
  } catch (error) {
    // It ended by itself.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
