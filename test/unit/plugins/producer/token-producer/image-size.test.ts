import { describe, expect, it } from 'vitest'
import { imageSize } from '../../../../../src/plugins/producer/token-producer/image-size.ts'

const base64 = (...bytes: readonly number[]): string => Buffer.from(bytes).toString('base64')

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]
const png = [...PNG, 0, 1, 0, 2, 0, 0, 3, 4, 8, 2, 0, 0, 0, 1, 2, 3, 4]
const gif = (version: string): number[] => [...Buffer.from(`GIF${version}`), 0x40, 0x01, 0xf0, 0x00, 0, 0, 0]
const frame = (marker: number): number[] => [0xff, marker, 0, 17, 8, 0x01, 0x68, 0x02, 0x80, 3]
const segment = (marker: number, length: number): number[] => [0xff, marker, length >> 8, length & 255, ...Array.from({ length: length - 2 }, () => 7)]

describe('imageSize', () => {
  it.each([
    ['a PNG', png, { width: 65_538, height: 772 }],
    ['a GIF of 1987', gif('87a'), { width: 320, height: 240 }],
    ['a GIF of 1989', gif('89a'), { width: 320, height: 240 }],
    ['a JPEG', [0xff, 0xd8, ...segment(0xe0, 16), ...frame(0xc0)], { width: 640, height: 360 }],
    ['a progressive JPEG behind a large segment', [0xff, 0xd8, ...segment(0xe1, 60_000), 0xff, 0xd0, 0xff, ...frame(0xc2)], { width: 640, height: 360 }],
    ['a lossless JPEG', [0xff, 0xd8, ...frame(0xc3), 0xff, 0xd9, 0, 0, 0, 0, 0, 0, 0, 0], undefined],
    ['a JPEG whose scan comes first', [0xff, 0xd8, 0xff, 0xda, 0, 4, 0, 0, ...frame(0xc0)], undefined],
    ['a JPEG cut before its frame', [0xff, 0xd8, ...segment(0xe0, 16)], undefined],
    ['a JPEG with a length of 0', [0xff, 0xd8, 0xff, 0xe0, 0, 0, 0, 0, 0, 0, 0, 0], undefined],
    ['a PNG without its checksum', png.slice(0, 32), undefined],
    ['a GIF of no width', [...Buffer.from('GIF89a'), 0, 0, 1, 0, 0, 0, 0], undefined],
    ['text', [...Buffer.from('hello world, this is no image at all')], undefined],
    ['nothing', [], undefined],
  ])('given %s, when measured, then its size is right or not known', (_what, bytes, size) => {
    expect(imageSize(base64(...bytes))).toEqual(size)
  })

  it('given text before the base64, when measured from there, then it is the same', () => {
    expect(imageSize(`data:x,${base64(...png)}`, 7)).toEqual({ width: 65_538, height: 772 })
  })

  it('given characters that are not base64, when measured, then it is not known', () => {
    expect(imageSize('iVBORw0KGgo!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!')).toBeUndefined()
  })
})
