const SUFFIX: ReadonlyMap<string, number> = new Map([
  ['n', 1e-9],
  ['u', 1e-6],
  ['m', 1e-3],
  ['', 1],
  ['k', 1e3],
  ['M', 1e6],
  ['G', 1e9],
  ['T', 1e12],
  ['P', 1e15],
  ['E', 1e18],
  ['Ki', 1024],
  ['Mi', 1_048_576],
  ['Gi', 1_073_741_824],
  ['Ti', 1_099_511_627_776],
  ['Pi', 1_125_899_906_842_624],
  ['Ei', 1_152_921_504_606_846_976],
])

/** A Kubernetes quantity ("1G", "512Mi", "5000", "1e9", or a number) as a number; undefined when it is none. */
export const parseQuantity = (value: unknown): number | undefined => {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value !== 'string') return undefined
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)$/.exec(value)
  if (match === null) return undefined
  const scale = SUFFIX.get(match[3] ?? '') ?? 1
  return Number(`${match[1] ?? ''}${match[2] ?? ''}`) * scale
}

const BYTES: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['B', 1],
  ['KB', 1e3],
  ['MB', 1e6],
  ['GB', 1e9],
  ['TB', 1e12],
])

/** A size such as "20GB", "512MiB", "1Gi" or "1048576", in whole bytes; undefined when it is none. */
export const parseBytes = (text: string): number | undefined => {
  const match = /^(\d+(?:\.\d+)?)([KMGT]?B)?$/.exec(text)
  const bytes = match === null ? parseQuantity(text.replace(/iB$/, 'i')) : Number(match[1]) * (BYTES.get(match[2] ?? '') ?? 1)
  return bytes === undefined || bytes < 0 || !Number.isSafeInteger(Math.round(bytes)) ? undefined : Math.round(bytes)
}

/** The shortest text that `parseBytes` reads back. */
export const bytesText = (bytes: number): string => {
  for (const [suffix, scale] of [['TB', 1e12], ['GB', 1e9], ['MB', 1e6], ['KB', 1e3], ['Gi', 1_073_741_824], ['Mi', 1_048_576], ['Ki', 1024]] as const) {
    if (bytes >= scale && bytes % scale === 0) return `${String(bytes / scale)}${suffix}`
  }
  return String(bytes)
}
