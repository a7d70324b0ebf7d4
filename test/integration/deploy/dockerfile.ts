/** One instruction of a Dockerfile, lines that go on joined. */
export interface Instruction {
  readonly name: string
  readonly rest: string
}

/** One stage: what its name is, and what is done in it. */
export interface Stage {
  readonly name: string
  readonly from: string
  readonly instructions: readonly Instruction[]
}

const KNOWN: ReadonlySet<string> = new Set(['FROM', 'ENV', 'WORKDIR', 'COPY', 'RUN', 'USER', 'VOLUME', 'EXPOSE', 'HEALTHCHECK', 'ENTRYPOINT'])

/** Reads a Dockerfile. Throws on what is no instruction that is known here. */
export const stagesOf = (text: string): readonly Stage[] => {
  const stages: { name: string; from: string; instructions: Instruction[] }[] = []
  for (const line of text.replace(/\\\n/g, ' ').split('\n')) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const [, name = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? []
    if (!KNOWN.has(name)) throw new Error(`no instruction: ${line}`)
    const [, from = '', as = ''] = /^(\S+)(?:\s+AS\s+(\S+))?$/.exec(rest) ?? []
    if (name === 'FROM') stages.push({ name: as, from, instructions: [] })
    else if (stages.length === 0) throw new Error(`an instruction before the first FROM: ${line}`)
    else stages.at(-1)?.instructions.push({ name, rest })
  }
  return stages
}

/** The words of an instruction in the form of a JSON array. */
export const wordsOf = ({ rest }: Instruction): readonly string[] => JSON.parse(rest.slice(rest.indexOf('['))) as readonly string[]
