/** signalbox: an engine to embed, and the whole server. */
export { createEngine } from './create-engine.ts'
export type { Announcement, CreateEngineOptions, LocalEngine, ScheduleRequest } from './create-engine.ts'
export { load } from './load.ts'
export type { Loaded, Sources } from './load.ts'
export { serve } from './serve.ts'
export type { ServeOptions, Serving } from './serve.ts'
export { VERSION } from './version.ts'
export { SignalboxError } from '../core/errors.ts'
