import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { endpointsDocument, readPoolRecord, replaceFile, stateFileOf } from '../../../../src/simulation/pool/pool-file.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pool-file-'))
})
afterAll(async () => {
  await rm(folder, { recursive: true })
})

describe('pool files', () => {
  it('announces endpoints as file discovery wants them: the port is a string, no role is no label', () => {
    const member = { namespace: 'default', engine: 'vllm', address: '127.0.0.1' }
    const document = endpointsDocument([
      { ...member, name: 'decode-0', role: 'decode', port: 8000 }, { ...member, name: 'odd: "name"', role: '', port: 8001 },
    ])
    expect(parse(document)).toEqual({
      endpoints: [
        { name: 'decode-0', namespace: 'default', address: '127.0.0.1', port: '8000', labels: { 'llm-d.ai/engine-type': 'vllm', 'llm-d.ai/role': 'decode' } },
        { name: 'odd: "name"', namespace: 'default', address: '127.0.0.1', port: '8001', labels: { 'llm-d.ai/engine-type': 'vllm' } },
      ],
    })
    expect(parse(endpointsDocument([]))).toEqual({ endpoints: [] })
  })

  it('puts the state file beside the endpoints file', () => {
    expect(stateFileOf('/run/pool/endpoints.yaml')).toBe('/run/pool/endpoints.pool.json')
  })

  it('replaces a file in one step and leaves nothing else', async () => {
    const file = join(folder, 'deep', 'file')
    await replaceFile(file, 'one')
    await replaceFile(file, 'two')
    expect(await readFile(file, 'utf8')).toBe('two')
    expect(await readdir(join(folder, 'deep'))).toEqual(['file'])
  })

  it.each(['', '{', '[]', '{"id": "a"}', 'null'])('takes a state file with %j for none', async (content) => {
    const file = join(folder, 'state.json')
    await writeFile(file, content)
    expect(await readPoolRecord(file)).toBeUndefined()
  })

  it('takes a missing state file for none', async () => {
    expect(await readPoolRecord(join(folder, 'none.json'))).toBeUndefined()
  })
})
