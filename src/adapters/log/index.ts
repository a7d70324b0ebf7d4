export { createLogger } from './logger.ts'
export type { LogFields, Logger, LoggerOptions, LogLevel } from './logger.ts'
