import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { ROLE_LABEL } from '../endpoint/role.ts'
import type { Role } from '../endpoint/role.ts'

/** An endpoint of a pool as others see it. */
export interface PoolMember {
  readonly name: string
  readonly namespace: string
  readonly role: Role
  readonly engine: string
  readonly address: string
  readonly port: number
  /** Labels besides role and engine. */
  readonly labels?: Readonly<Record<string, string>>
}

/** How to find a pool that runs in another process. */
export interface PoolRecord {
  /** New for each pool, so that a reused process id or port is not taken for it. */
  readonly id: string
  readonly pid: number
  /** Where its control routes are: `http://host:port`. */
  readonly controlUrl: string
  readonly model: string
  readonly speed: number
  readonly endpointsFile: string
  readonly endpoints: readonly PoolMember[]
}

export const ENGINE_LABEL = 'llm-d.ai/engine-type'

/** The state file that belongs to an endpoints file: `pool/endpoints.yaml` has `pool/endpoints.pool.json`. */
export function stateFileOf(endpointsFile: string): string {
  return join(dirname(endpointsFile), `${basename(endpointsFile, extname(endpointsFile))}.pool.json`)
}

/** AIBrix's names of the engines that its router knows how to prefill. */
const AIBRIX_ENGINES: Readonly<Record<string, string>> = { vllm: 'vllm', sglang: 'sglang', 'trtllm-serve': 'trtllm' }

/** The labels by which AIBrix's router pairs endpoints: the n-th of a role is in the n-th roleset, around again. */
export function rolesetLabels(role: Role, index: number, rolesets: number, engine: string): Readonly<Record<string, string>> {
  if (rolesets === 0 || (role !== 'prefill' && role !== 'decode')) return {}
  return { 'role-name': role, 'roleset-name': `roleset-${index % rolesets}`, 'model.aibrix.ai/engine': AIBRIX_ENGINES[engine] ?? engine }
}

/** The members as a file-discovery document (YAML; every scalar is quoted, the port is a string). */
export function endpointsDocument(members: readonly PoolMember[]): string {
  if (members.length === 0) return 'endpoints: []\n'
  const lines = ['endpoints:']
  for (const { name, namespace, role, engine, address, port, labels = {} } of members) {
    lines.push(
      `  - name: ${JSON.stringify(name)}`,
      `    namespace: ${JSON.stringify(namespace)}`,
      `    address: ${JSON.stringify(address)}`,
      `    port: ${JSON.stringify(String(port))}`,
      '    labels:',
      `      ${ENGINE_LABEL}: ${JSON.stringify(engine)}`,
    )
    if (role !== '') lines.push(`      ${ROLE_LABEL}: ${JSON.stringify(role)}`)
    for (const [label, value] of Object.entries(labels)) lines.push(`      ${label}: ${JSON.stringify(value)}`)
  }
  return `${lines.join('\n')}\n`
}

/** Replaces a file in one step: a reader sees the old or the new content, never a part. Creates the folder. */
export async function replaceFile(file: string, content: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  const fresh = `${file}.${randomUUID()}.tmp`
  try {
    await writeFile(fresh, content)
    await rename(fresh, file)
  } catch (error) {
    await rm(fresh, { force: true })
    throw error
  }
}

/** The record in a state file; undefined when there is no such file or it holds something else. */
export async function readPoolRecord(stateFile: string): Promise<PoolRecord | undefined> {
  let value: unknown
  try {
    value = JSON.parse(await readFile(stateFile, 'utf8'))
  } catch {
    return undefined
  }
  return isPoolRecord(value) ? value : undefined
}

function isPoolRecord(value: unknown): value is PoolRecord {
  if (typeof value !== 'object' || value === null) return false
  const record = value as Partial<Record<keyof PoolRecord, unknown>>
  return typeof record.id === 'string' && Number.isSafeInteger(record.pid) && typeof record.controlUrl === 'string' &&
    typeof record.model === 'string' && typeof record.speed === 'number' &&
    typeof record.endpointsFile === 'string' && Array.isArray(record.endpoints)
}
