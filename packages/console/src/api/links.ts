/** Signed links stand for paths: no signature covers the origin, and localhost and 127.0.0.1 are one service. */
const OWN = /^\/(files|uploads|archives)\//

/** Origin of the page; tests, which run elsewhere, say theirs. */
const here = (): string =>
  (globalThis as unknown as { location: { origin: string } }).location.origin

/** A signed link at the origin of the page; undefined of any other. */
export const ownLink = (link: string | undefined, origin = here()): string | undefined => {
  if (link === undefined || !URL.canParse(link, origin)) return undefined
  const { pathname, search } = new URL(link, origin)
  return OWN.test(pathname) ? pathname + search : undefined
}

/** The path of a file that the caller may open. An admin gets the addresses of others without what would open them. */
export const fileLink = (link: string | undefined, origin = here()): string | undefined => {
  const path = ownLink(link, origin)
  return path?.includes('signature=') ? path : undefined
}

/** Returns a stranger's address as it may be linked to: https alone. */
export const httpsLink = (address: string | undefined): URL | undefined => {
  if (address === undefined || !URL.canParse(address)) return undefined
  const url = new URL(address)
  return url.protocol === 'https:' && url.username === '' && url.password === '' ? url : undefined
}

/** Address of the page of a task for whoever has it: the token is in the fragment, which browsers send to no server. */
export const shareLink = (task: string, token: string, origin = here()): string =>
  `${origin}/console/tasks/${task}#token=${token}`

/** The token of a shared task in a fragment, with or without its sign. */
export const tokenIn = (fragment: string): string | undefined =>
  /^#?token=(kiln_task_\w+)$/.exec(fragment)?.[1]

/** The address that the issuer sends back to; an operator registers it for the client. */
export const REDIRECT_PATH = '/console/signed-in'

/** Returns the address to go back to after signing in: one of the console, or its beginning. */
export const ownPath = (path: string | undefined, origin = here()): string => {
  if (path === undefined || !URL.canParse(path, origin)) return '/console/'
  const url = new URL(path, origin)
  const isOwn = url.origin === origin && url.pathname.startsWith('/console/')
  return isOwn ? url.pathname + url.search + url.hash : '/console/'
}
