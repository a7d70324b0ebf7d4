import type { Palette } from './raster.ts'

/** "#rrggbb", or "#rgb" as minifiers write it, as 0xAABBGGRR. */
export const packed = (hex: string): number => {
  const digits = hex.trim().replace('#', '')
  const value = Number.parseInt(digits.length === 3 ? digits.replace(/./g, '$&$&') : digits, 16)
  return (0xff000000 | ((value & 0xff) << 16) | (value & 0xff00) | (value >> 16)) >>> 0
}

/** A colour between two, 0 being the first. */
export const mixed = (a: number, b: number, share: number): number => {
  const channel = (shift: number): number => Math.round(((a >> shift) & 0xff) * (1 - share) + ((b >> shift) & 0xff) * share) << shift
  return (0xff000000 | channel(16) | channel(8) | channel(0)) >>> 0
}

/** The palette that the theme in force gives. */
export const paletteOf = (style: { getPropertyValue(name: string): string }): Palette => {
  const colour = (name: string): number => packed(style.getPropertyValue(`--${name}`))
  const ground = colour('surface')
  return {
    ground,
    line: mixed(ground, colour('line'), 0.7),
    absent: colour('raised'),
    stale: mixed(ground, colour('warn'), 0.16),
    unreachable: mixed(ground, colour('bad'), 0.26),
    bad: colour('bad'), kv: colour('kv'), queue: colour('queue'), chosen: colour('cursor'),
    stages: [[colour('decode-wait'), colour('decode')], [colour('encode-wait'), colour('encode')], [colour('prefill-wait'), colour('prefill')]],
  }
}
