import type { ErrorAnswer } from './error-response.ts'
import type { Preparation } from './preparation.ts'

const MODELS_PATH = '/v1/models'

/** What a request is for. */
export type DoorRoute =
  | { readonly kind: 'models'; readonly model: string | undefined }
  | { readonly kind: 'claimed' }
  | { readonly kind: 'refused'; readonly answer: ErrorAnswer; readonly headers: readonly string[] }

/** The path of a request target: without its query and a slash at its end; of an absolute target without its host. */
export const pathOf = (target: string): string => {
  let path = target
  if (!path.startsWith('/')) path = path.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '')
  const query = path.search(/[?#]/)
  if (query >= 0) path = path.slice(0, query)
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

/** A request target in the form in which an endpoint gets it: path and query as they came, without a host. */
export const originForm = (target: string): string => {
  if (target.startsWith('/')) return target
  const path = target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '')
  return path.startsWith('/') ? path : `/${path}`
}

/** Chooses by path first and then by method, so that a wrong method on a known path says so. */
export const routeOf = (method: string, path: string, preparation: Pick<Preparation, 'claims'>): DoorRoute => {
  if (path === MODELS_PATH || path.startsWith(`${MODELS_PATH}/`)) {
    if (method !== 'GET' && method !== 'HEAD') return wrongMethod(method, path, 'GET, HEAD')
    const model = path.length > MODELS_PATH.length ? decoded(path.slice(MODELS_PATH.length + 1)) : undefined
    return { kind: 'models', model }
  }
  if (!preparation.claims(path)) {
    return { kind: 'refused', answer: { status: 404, code: 'unknown_path', message: `unknown path ${path}` }, headers: [] }
  }
  return method === 'POST' ? { kind: 'claimed' } : wrongMethod(method, path, 'POST')
}

const wrongMethod = (method: string, path: string, allowed: string): DoorRoute => ({
  kind: 'refused',
  answer: { status: 405, code: 'method_not_allowed', message: `${method} is not allowed on ${path}; allowed: ${allowed}` },
  headers: ['allow', allowed],
})

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
