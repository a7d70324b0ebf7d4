import type { Server } from 'node:http'
import { Session } from 'node:inspector/promises'
import type { AddressInfo } from 'node:net'

/** What a bench asks one of its processes. */
export type Question = { readonly ask: 'cpu' } | { readonly ask: 'profile-start' } | { readonly ask: 'profile-stop' }

/** Share of the time of one function, in percent. */
export interface ProfileLine {
  readonly place: string
  readonly percent: number
}

/** Listens on a free port, tells it to the parent, and answers its questions; ends with the parent. */
export const serveParent = (server: Server): void => {
  server.listen(0, '127.0.0.1', () => {
    tellPort((server.address() as AddressInfo).port)
  })
}

/** Tells the parent the port of a server that listens already. */
export const tellPort = (port: number): void => {
  const session = new Session()
  process.on('message', (question: Question) => {
    void answer(session, question)
  })
  process.on('disconnect', () => {
    process.exit(0)
  })
  process.send?.({ port })
}

const answer = async (session: Session, { ask }: Question): Promise<void> => {
  if (ask === 'cpu') {
    const { user, system } = process.cpuUsage()
    process.send?.({ cpuUs: user + system })
  } else if (ask === 'profile-start') {
    session.connect()
    await session.post('Profiler.enable')
    await session.post('Profiler.setSamplingInterval', { interval: 200 })
    await session.post('Profiler.start')
    process.send?.({ started: true })
  } else {
    const { profile } = await session.post('Profiler.stop')
    session.disconnect()
    process.send?.({ lines: lines(profile) })
  }
}

interface Profile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number } }[]
  readonly samples?: readonly number[] | undefined
}

/** Time by file, or by function for what has no file, without idle time. */
const lines = (profile: Profile): readonly ProfileLine[] => {
  const placeById = new Map(profile.nodes.map(({ id, callFrame }) => [id, placeOf(callFrame)]))
  const hits = new Map<string, number>()
  let total = 0
  for (const sample of profile.samples ?? []) {
    const place = placeById.get(sample) ?? ''
    if (place === '(idle)' || place === '(root)') continue
    total++
    hits.set(place, (hits.get(place) ?? 0) + 1)
  }
  return [...hits].map(([place, count]) => ({ place, percent: (100 * count) / total })).sort((a, b) => b.percent - a.percent)
}

const placeOf = ({ functionName, url }: { readonly functionName: string; readonly url: string }): string => {
  const file = /(?:node_modules|src|bench)\/.*$/.exec(url)?.[0]
  return file ?? (url === '' ? functionName : url)
}
