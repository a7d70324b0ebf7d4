/** Joins a host and a port as Go's net.JoinHostPort does: a host with a colon (IPv6) gets brackets. */
export const joinHostPort = (host: string, port: number | string): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`

/** Splits "host:port", "[v6]:port" or a bare host. The port is undefined when there is none. */
export const splitHostPort = (text: string): { readonly host: string; readonly port: string | undefined } => {
  if (text.startsWith('[')) {
    const close = text.indexOf(']')
    if (close < 0) return { host: text, port: undefined }
    const rest = text.slice(close + 1)
    return { host: text.slice(1, close), port: rest.startsWith(':') ? rest.slice(1) : undefined }
  }
  const colon = text.lastIndexOf(':')
  if (colon < 0 || text.indexOf(':') !== colon) return { host: text, port: undefined }
  return { host: text.slice(0, colon), port: text.slice(colon + 1) }
}
