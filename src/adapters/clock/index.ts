export { SystemClock } from './system-clock.ts'
