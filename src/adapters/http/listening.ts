import type { Server } from 'node:http'
import { SignalboxError } from '../../core/errors.ts'
import { joinHostPort } from '../../core/address.ts'

/** Where a server listens; port 0 takes a free one. */
export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/**
 * Starts a server and gives the address it has then. Throws SignalboxError port-in-use, naming the flag, when something
 * else listens there.
 */
export const listenOn = (server: Server, address: ListenAddress, flag: string): Promise<ListenAddress> =>
  new Promise((resolve, reject) => {
    const onError = (error: Error): void => {
      const text = joinHostPort(address.host, address.port)
      const isInUse = 'code' in error && error.code === 'EADDRINUSE'
      reject(isInUse ? new SignalboxError('port-in-use', `${text} is in use already: choose another with ${flag} HOST:PORT`) : error)
    }
    server.once('error', onError)
    server.listen(address.port, address.host, () => {
      server.off('error', onError)
      const bound = server.address()
      resolve(bound === null || typeof bound === 'string' ? address : { host: bound.address, port: bound.port })
    })
  })
