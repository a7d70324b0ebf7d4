import { stripHeight } from './raster.ts'
import type { LanePicture, LaneView } from './raster.ts'

/** The bar under a point of the picture; undefined where there is none. */
export const barAt = (view: LaneView, picture: LanePicture, x: number, y: number): number | undefined => {
  const lane = view.order[Math.floor((y + view.top) / view.laneHeight)]
  if (lane === undefined) return undefined
  const { bars, packing, places } = picture
  const perPixel = (view.right - view.left) / view.width
  const inner = view.laneHeight - stripHeight(view.laneHeight) - (view.laneHeight >= 6 ? 2 : 0)
  const rows = packing.rows[lane] as number
  const height = Math.min(12, inner / rows)
  const within = y + view.top - Math.floor((y + view.top) / view.laneHeight) * view.laneHeight - 1
  const place = view.left + x * perPixel
  for (let i = bars.lane.length - 1; i >= 0; i -= 1) {
    if (bars.lane[i] !== lane) continue
    const from = places.from[i] as number
    if (place < from || place > Math.max(from + 2 * perPixel, places.to[i] as number)) continue
    if (rows > inner || Math.floor(within / height) === packing.row[i]) return i
  }
  return undefined
}
