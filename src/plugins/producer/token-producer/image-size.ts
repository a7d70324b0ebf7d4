/** Width and height in pixels. */
export interface Size {
  readonly width: number
  readonly height: number
}

/** The size of a PNG, JPEG or GIF from the head of its base64; undefined where it is none of them or is cut too short. */
export const imageSize = (base64: string, from = 0): Size | undefined => {
  const image = new Base64Bytes(base64, from)
  const size = pngSize(image) ?? gifSize(image) ?? jpegSize(image)
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined
}

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]
const GIF_87 = [0x47, 0x49, 0x46, 0x38, 0x37, 0x61]
const GIF_89 = [0x47, 0x49, 0x46, 0x38, 0x39, 0x61]
const JPEG = [0xff, 0xd8]

const pngSize = (image: Base64Bytes): Size | undefined => {
  if (!image.startsWith(PNG) || !image.has(32)) return undefined // the chunk with its checksum
  return { width: image.big16(16) * 65_536 + image.big16(18), height: image.big16(20) * 65_536 + image.big16(22) }
}

const gifSize = (image: Base64Bytes): Size | undefined => {
  if (!(image.startsWith(GIF_87) || image.startsWith(GIF_89)) || !image.has(12)) return undefined
  return { width: image.at(6) + 256 * image.at(7), height: image.at(8) + 256 * image.at(9) }
}

/** Walks the segments to the frame header. */
const jpegSize = (image: Base64Bytes): Size | undefined => {
  if (!image.startsWith(JPEG)) return undefined
  let place = 2
  while (image.has(place + 8)) {
    if (image.at(place) !== 0xff) return undefined
    const marker = image.at(place + 1)
    if (marker === 0xff) place += 1 // fill byte
    else if (marker >= 0xd0 && marker <= 0xd7) place += 2 // restart, without a length
    else if (marker >= 0xc0 && marker <= 0xc2) return { width: image.big16(place + 7), height: image.big16(place + 5) }
    else if (marker === 0xd9 || marker === 0xda) return undefined // end, or scan before any frame
    else place += 2 + Math.max(2, image.big16(place + 2))
  }
  return undefined
}

/** Bytes by their place in a base64 text, decoded one at a time: only the head of an image is ever looked at. */
class Base64Bytes {
  private readonly text: string
  private readonly from: number

  constructor(text: string, from: number) {
    this.text = text
    this.from = from
  }

  /** -1 where there is no such byte. */
  at(index: number): number {
    const bit = 8 * index
    const digit = this.from + Math.floor(bit / 6)
    const high = digitOf(this.text.charCodeAt(digit))
    const low = digitOf(this.text.charCodeAt(digit + 1))
    if (high < 0 || low < 0) return -1
    return (((high << 6) | low) >> (4 - (bit % 6))) & 255
  }

  has(index: number): boolean {
    return this.at(index) >= 0
  }

  big16(index: number): number {
    return 256 * this.at(index) + this.at(index + 1)
  }

  startsWith(bytes: readonly number[]): boolean {
    return bytes.every((byte, index) => this.at(index) === byte)
  }
}

const digitOf = (code: number): number => {
  if (code >= 65 && code <= 90) return code - 65
  if (code >= 97 && code <= 122) return code - 71
  if (code >= 48 && code <= 57) return code + 4
  return code === 43 ? 62 : code === 47 ? 63 : -1
}
