import { watch } from 'node:fs'
import type { FSWatcher } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import type { EndpointDescription } from '../../core/endpoint.ts'
import { SignalboxError } from '../../core/errors.ts'
import type { FileDiscoverySettings } from '../../plugins/discovery/file-discovery/index.ts'
import { changesBetween } from './endpoint-set.ts'
import type { EndpointChanges } from './endpoint-set.ts'
import { readEndpoints } from './endpoints-document.ts'
import type { DocumentReader } from './endpoints-document.ts'

/** Kubernetes mounts files as links into a folder of this kind, and swaps the folder. */
const MOUNT_MARK = '..'

export interface DiscoveryOptions {
  readonly discovery: DocumentReader & { readonly settings: FileDiscoverySettings }
  /** Larger files are refused. */
  readonly bytesMax: number
  /** The endpoints that the engine knows already, as after a restart. */
  readonly known: Iterable<EndpointDescription>
  /** Something is other than before. */
  readonly changed: (changes: EndpointChanges) => void
  /** The file cannot be read any more; the endpoints stay as they were. */
  readonly failed: (error: SignalboxError) => void
}

/** Endpoints from a file, which is read again when it changes. */
export class FileDiscoverySource {
  private readonly options: DiscoveryOptions
  private readonly file: string
  private known: ReadonlyMap<string, EndpointDescription>
  private readonly watchers = new Map<string, FSWatcher>()
  private reading: Promise<void> | undefined
  private isOutdated = false
  private isStarted = false
  private isClosed = false

  constructor(options: DiscoveryOptions) {
    this.options = options
    this.file = options.discovery.settings.path
    this.known = new Map([...options.known].map((endpoint) => [endpoint.id, endpoint]))
  }

  /**
   * Reads the file, tells what is other than the known, and goes on watching where the settings say so.
   * @throws SignalboxError where the file cannot be read or is wrong: nothing is told then
   */
  async start(): Promise<void> {
    // Watching first: a change between reading and watching would go unseen.
    if (this.options.discovery.settings.watchFile) await this.watchFolders()
    try {
      this.take(await this.read())
    } catch (error) {
      await this.close()
      throw error
    }
    this.isStarted = true
    if (this.isOutdated) this.reload()
  }

  /** Stops watching; a reading under way tells nothing any more. */
  async close(): Promise<void> {
    this.isClosed = true
    for (const watcher of this.watchers.values()) watcher.close()
    this.watchers.clear()
    await this.reading
  }

  /** The folder of the file, and of the file that it links to: a file that is replaced is another file. */
  private async watchFolders(): Promise<void> {
    const folders = new Set([dirname(resolve(this.file))])
    const real = await realpath(this.file).catch(() => undefined)
    if (real !== undefined) folders.add(dirname(real))
    if (this.isClosed) return
    const names = new Set([basename(this.file), ...(real === undefined ? [] : [basename(real)])])
    for (const [folder, watcher] of this.watchers) {
      if (folders.has(folder)) continue
      watcher.close()
      this.watchers.delete(folder)
    }
    for (const folder of folders) if (!this.watchers.has(folder)) this.watchFolder(folder, names)
  }

  private watchFolder(folder: string, names: ReadonlySet<string>): void {
    try {
      const watcher = watch(folder, (_event, name) => {
        if (name === null || names.has(name) || name.startsWith(MOUNT_MARK)) this.reload()
      })
      watcher.on('error', (error) => this.options.failed(unreadable(`cannot watch the folder: ${error.message}`, this.file)))
      this.watchers.set(folder, watcher)
    } catch (error) {
      throw unreadable(`cannot watch the folder: ${(error as Error).message}`, this.file)
    }
  }

  /** Reads again, once for all events that come before the reading is over. */
  private reload(): void {
    this.isOutdated = true
    if (!this.isStarted || this.reading !== undefined || this.isClosed) return
    this.reading = this.readUntilQuiet().finally(() => {
      this.reading = undefined
      // An event may have come between the last look and here.
      if (this.isOutdated) this.reload()
    })
  }

  private async readUntilQuiet(): Promise<void> {
    while (this.isOutdated && !this.isClosed) {
      this.isOutdated = false
      const outcome = await this.attempt()
      // Events of a writer at work wait in the loop's next round: what was read between them is half of something.
      await new Promise((resume) => setImmediate(resume))
      if (this.isOutdated || this.isClosed) continue
      if (outcome instanceof SignalboxError) this.options.failed(outcome)
      else this.take(outcome)
      await this.watchFolders().catch((error: unknown) => this.options.failed(error as SignalboxError))
    }
  }

  private async attempt(): Promise<readonly EndpointDescription[] | SignalboxError> {
    try {
      return await this.read()
    } catch (error) {
      if (error instanceof SignalboxError) return error
      throw error
    }
  }

  private async read(): Promise<readonly EndpointDescription[]> {
    return readEndpoints(await this.readText(), this.file, this.options.discovery)
  }

  private async readText(): Promise<string> {
    const { file } = this
    const { bytesMax } = this.options
    let size: number
    try {
      await using handle = await open(file)
      size = (await handle.stat()).size
      if (size <= bytesMax) return await handle.readFile('utf8')
    } catch (error) {
      throw unreadable(`cannot read the file of endpoints: ${(error as Error).message}`, file)
    }
    throw unreadable(`the file of endpoints has ${size} bytes; at most ${bytesMax} are read`, file)
  }

  private take(found: readonly EndpointDescription[]): void {
    if (this.isClosed) return
    const changes = changesBetween(this.known, found)
    this.known = new Map(found.map((endpoint) => [endpoint.id, endpoint]))
    if (changes.joined.length + changes.updated.length + changes.left.length > 0) this.options.changed(changes)
  }
}

const unreadable = (message: string, file: string): SignalboxError => new SignalboxError('discovery-file', message, { file })
