import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { FileDiscoverySource } from '../../../src/adapters/file-discovery/index.ts'
import type { EndpointChanges } from '../../../src/adapters/file-discovery/index.ts'
import type { EndpointDescription } from '../../../src/core/endpoint.ts'
import { SignalboxError } from '../../../src/core/errors.ts'
import { FILE_BYTES_MAX, fileDiscovery } from '../../../src/plugins/discovery/file-discovery/index.ts'
import type { FileDiscovery } from '../../../src/plugins/discovery/file-discovery/index.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const folder = async (): Promise<string> => {
  const path = await mkdtemp(join(tmpdir(), 'signalbox-'))
  closing.push(() => rm(path, { recursive: true }))
  return path
}

const entry = (name: string, port = 8000, labels = ''): string => `- {name: ${name}, address: 10.0.0.1, port: "${port}", labels: {${labels}}}\n`
const fileOf = (...entries: readonly string[]): string => (entries.length === 0 ? 'endpoints: []\n' : `endpoints:\n${entries.join('')}`)

interface Told {
  readonly joined?: readonly string[]
  readonly updated?: readonly string[]
  readonly left?: readonly string[]
  readonly error?: string
}

const discover = (path: string, { watchFile = true, known = [] as readonly EndpointDescription[] } = {}) => {
  const told: Told[] = []
  const all: EndpointDescription[] = []
  const waiting: (() => void)[] = []
  const tell = (what: Told): void => {
    told.push(what)
    for (const wait of waiting.splice(0)) wait()
  }
  const ids = (list: readonly EndpointDescription[]): string[] => list.map(({ id }) => id)
  const discovery = fileDiscovery.create({ name: 'file-discovery', parameters: { path, watchFile }, plugin: () => undefined, warn: () => undefined }) as FileDiscovery
  const source = new FileDiscoverySource({
    discovery,
    bytesMax: FILE_BYTES_MAX,
    known,
    changed: ({ joined, updated, left }: EndpointChanges) => {
      all.push(...joined, ...updated)
      tell({ joined: ids(joined), updated: ids(updated), left })
    },
    failed: (error) => tell({ error: String(error) }),
  })
  closing.push(() => source.close())
  const until = async (wanted: (what: Told) => boolean): Promise<Told> => {
    for (;;) {
      const found = told.find(wanted)
      if (found !== undefined) return found
      await new Promise<void>((resolve) => waiting.push(resolve))
    }
  }
  return { source, told, all, until }
}

describe('the first reading', () => {
  it('tells of every endpoint in the file, by id', async () => {
    const path = join(await folder(), 'endpoints.yaml')
    await writeFile(path, fileOf(entry('b'), entry('a')))
    const { source, told, all } = discover(path, { watchFile: false })
    await source.start()
    expect(told).toEqual([{ joined: ['default/a', 'default/b'], updated: [], left: [] }])
    expect(all[0]).toMatchObject({ address: '10.0.0.1', port: 8000, incarnation: '', metricsHostPort: '10.0.0.1:8000' })
  })

  it('tells only what is other than the engine knows already', async () => {
    const path = join(await folder(), 'endpoints.yaml')
    await writeFile(path, fileOf(entry('a'), entry('b', 8000, 'x: "1"'), entry('c')))
    const first = discover(path, { watchFile: false })
    await first.source.start()
    await writeFile(path, fileOf(entry('b', 8000, 'x: "2"'), entry('c'), entry('d')))
    const second = discover(path, { watchFile: false, known: first.all })
    await second.source.start()
    expect(second.told).toEqual([{ joined: ['default/d'], updated: ['default/b'], left: ['default/a'] }])
  })

  it.each([
    ['wrong', 'endpoints:\n- {name: a, address: here, port: "1"}\n', /address "here" is not an IPv4 address \(.*endpoints\.yaml:2:22\)/],
    ['no YAML', 'endpoints: [', /endpoints\.yaml:1:13\).*\[config-syntax\]/s],
    ['too large', `${fileOf(entry('a'))}#${'x'.repeat(FILE_BYTES_MAX)}`, /at most 1048576 are read.*\[discovery-file\]/s],
  ])('stops the start where the file is %s, and says where', async (_what, text, message) => {
    const path = join(await folder(), 'endpoints.yaml')
    await writeFile(path, text)
    const { source, told } = discover(path)
    const error: unknown = await source.start().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(SignalboxError)
    expect(String(error)).toMatch(message)
    expect(told).toEqual([])
  })

  it('stops the start where there is no file, or no folder', async () => {
    const path = await folder()
    await expect(discover(join(path, 'none.yaml')).source.start()).rejects.toThrow(/cannot read the file of endpoints: ENOENT/)
    await expect(discover(join(path, 'none', 'none.yaml')).source.start()).rejects.toThrow(/cannot watch the folder: ENOENT/)
  })
})

describe('watching', () => {
  it('sees a file that is written in place', async () => {
    const path = join(await folder(), 'endpoints.yaml')
    await writeFile(path, fileOf(entry('a')))
    const { source, until, told } = discover(path)
    await source.start()
    await writeFile(path, fileOf(entry('b')))
    await until(({ joined }) => joined?.includes('default/b') === true)
    expect(told.flatMap(({ left }) => left ?? [])).toEqual(['default/a'])
  })

  it('sees a file that is replaced, again and again', async () => {
    const path = join(await folder(), 'endpoints.yaml')
    await writeFile(path, fileOf(entry('e0')))
    const { source, until } = discover(path)
    await source.start()
    for (let index = 1; index <= 5; index += 1) {
      await writeFile(`${path}.new`, fileOf(entry(`e${index}`)))
      await rename(`${path}.new`, path)
      expect(await until(({ joined }) => joined?.includes(`default/e${index}`) === true)).toMatchObject({ left: [`default/e${index - 1}`] })
    }
  })

  it('sees the folder swapped under a link, as Kubernetes does it', async () => {
    const mount = await folder()
    const version = async (name: string, text: string): Promise<void> => {
      await mkdir(join(mount, `..${name}`))
      await writeFile(join(mount, `..${name}`, 'endpoints.yaml'), text)
      await symlink(`..${name}`, join(mount, '..next'))
      await rename(join(mount, '..next'), join(mount, '..data'))
    }
    await version('1', fileOf(entry('a')))
    await symlink(join('..data', 'endpoints.yaml'), join(mount, 'endpoints.yaml'))
    const { source, until } = discover(join(mount, 'endpoints.yaml'))
    await source.start()
    for (const name of ['b', 'c']) {
      await version(name, fileOf(entry(name)))
      await until(({ joined }) => joined?.includes(`default/${name}`) === true)
    }
  })

  it('keeps the endpoints when the file is wrong, empty or gone, tells of it, and goes on', async () => {
    const path = join(await folder(), 'endpoints.yaml')
    await writeFile(path, fileOf(entry('a'), entry('b')))
    const { source, until, told } = discover(path)
    await source.start()
    const replace = async (text: string): Promise<void> => {
      await writeFile(`${path}.new`, text)
      await rename(`${path}.new`, path)
    }
    await replace('endpoints:\n- {name: c, address: 10.0.0.1, port: 1}\n')
    await until(({ error }) => error?.includes('port must be a string') === true)
    await replace('')
    await until(({ error }) => error?.includes('the file is empty') === true)
    await rm(path)
    await until(({ error }) => error?.includes('ENOENT') === true)
    expect(told.flatMap(({ left }) => left ?? [])).toEqual([])
    await replace(fileOf(entry('b')))
    expect(await until(({ left }) => (left ?? []).length > 0)).toEqual({ joined: [], updated: [], left: ['default/a'] })
  })

  it('tells nothing after it was closed, nor of files nearby', async () => {
    const path = join(await folder(), 'endpoints.yaml')
    await writeFile(path, fileOf(entry('a')))
    const { source, told } = discover(path)
    await source.start()
    await writeFile(`${path}.other`, 'x')
    await source.close()
    await writeFile(path, fileOf(entry('b')))
    const second = discover(path)
    await second.source.start()
    expect(told).toHaveLength(1)
  })

  it('does not watch when it is not told to', async () => {
    const path = join(await folder(), 'endpoints.yaml')
    await writeFile(path, fileOf(entry('a')))
    const still = discover(path, { watchFile: false })
    const watching = discover(path)
    await still.source.start()
    await watching.source.start()
    await writeFile(path, fileOf(entry('b')))
    await watching.until(({ joined }) => joined?.includes('default/b') === true)
    expect(still.told).toHaveLength(1)
  })
})
