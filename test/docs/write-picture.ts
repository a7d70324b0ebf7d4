/** Draws the picture of the README anew: `node test/docs/write-picture.ts`. */
import { writeFileSync } from 'node:fs'
import { picture } from './picture.ts'

writeFileSync(new URL('../../deploy/pictures/explain.svg', import.meta.url), picture())
