import { pause } from '../../../client/src/lib/pause.ts'
import { t } from '../words/translate.ts'
import { REDIRECT_PATH, tokenIn } from './links.ts'
import type { Tokens } from './oidc.ts'
import type { Data } from './schema.ts'
import { makeStore } from './store.ts'
import { askTabs, joinTabs, notifyTabs, renewAlone, showSignedIn, type Shared } from './tabs.ts'
import { waitMs } from './wait.ts'

export interface Session {
  /** Name of the user who is signed in; undefined: nobody. */
  user?: string
  /** Until it is known whether a page that was reloaded goes on as somebody. */
  starting?: boolean
  /** The session cannot be renewed: it ends then (milliseconds since 1970), or has ended. Requests wait. */
  endsAt?: number
  ended?: boolean
  /** Requests wait for a renewal, which is tried again and again. */
  isLate?: boolean
}

type DevelopmentUser = { user: string; platform_admin: boolean }

type Settings = Data<'/service'>

/** The name of a development user, whom a reload makes a new token for. */
const DEVELOPMENT_USER = 'kiln.user'
/** The issuer knew somebody: a reload asks it again. */
const WAS_SIGNED_IN = 'kiln.signed-in'

const RENEW_BEFORE_MS = 60_000
const WARN_BEFORE_MS = 120_000
/** The longest that a timer takes. */
const MAX_MS = 2 ** 31 - 1

export const session = makeStore<Session>({ starting: true })

/** Session of all tabs. Never in the store, which components read, and nowhere else. */
let current: Shared | undefined
/** When it began, or was left: what another tab has from before that does not count. */
let since = 0
/** The service has rejected these tokens. */
let rejected: Shared | undefined
let settings: Settings | undefined
let renewing: Promise<void> | undefined
let timer: ReturnType<typeof setTimeout> | undefined

/** Only what needs it loads what speaks to an issuer. */
const oidc = () => import('./oidc.ts')

/** Without the token of a shared task, which is kept in no storage. */
const here = (): string =>
  location.pathname + location.search + (tokenIn(location.hash) ? '' : location.hash)

/** Takes up the session of the other tabs, or of a page that was reloaded. */
export const startSession = async (known: Settings): Promise<void> => {
  settings = known
  joinTabs({
    get: () => current,
    take: (shared) => shared.at > since && hold(shared),
    leave: forget,
  })
  const user = sessionStorage.getItem(DEVELOPMENT_USER)
  // That page finishes by itself.
  if (location.pathname === REDIRECT_PATH) return
  await askTabs(false)
  if (current !== undefined) return
  try {
    if (known.development && user !== null) return await signInAs(user)
    if (known.client_id && sessionStorage.getItem(WAS_SIGNED_IN) === known.issuer)
      await leave({ path: here(), silent: true })
  } catch {
    // The issuer does not respond: the page goes on as nobody.
  }
  session.set({})
}

export const listDevelopmentUsers = async (): Promise<DevelopmentUser[]> => {
  const response = await fetch('/development/users')
  return response.ok ? ((await response.json()) as DevelopmentUser[]) : []
}

/** Signs in as one of the users of the embedded stack. */
export const signInAs = async (user: string): Promise<void> =>
  accept(await readDevelopmentTokens(user), { isDevelopment: true })

const readDevelopmentTokens = async (user: string): Promise<Tokens> => {
  const response = await fetch('/development/tokens', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ user }),
  })
  const { status } = response
  if (!response.ok)
    throw Object.assign(new Error(t('There is no token for {user}: {status}.', { user, status })), {
      status,
    })
  const { token } = (await response.json()) as { token: string }
  // A rejection renews it.
  return { access: token, refresh: undefined, expiresAt: Infinity, user }
}

/** Leaves for the issuer, which sends back to a page, by default to the one that is seen now. */
export const signIn = (path = here()): Promise<void> => leave({ path, silent: false })

const leave = async (way: { path: string; silent: boolean }): Promise<void> => {
  const { leaveToSignIn } = await oidc()
  if (settings) await leaveToSignIn(settings, way)
}

/** Finishes the way back from the issuer; returns the address of the page before it. */
export const returnFromIssuer = async (known: Settings, address: URL): Promise<string> => {
  settings = known
  const { finishSignIn } = await oidc()
  try {
    const result = await finishSignIn(known, address)
    if (result.tokens) accept(result.tokens, { isDevelopment: false })
    else forget(Date.now())
    return result.path
  } catch (error) {
    forget(Date.now())
    throw error
  }
}

/** Takes new tokens, for all tabs. */
const accept = (tokens: Tokens, { isDevelopment }: Pick<Shared, 'isDevelopment'>): void => {
  const { user = current?.user ?? '' } = tokens
  const shared = { tokens, user, isDevelopment, at: Date.now() }
  hold(shared)
  notifyTabs({ shared })
}

/** Renews tokens a minute before their end; where that is not possible, says two minutes before when the session ends. */
const hold = (shared: Shared): void => {
  const { user, isDevelopment, at, tokens } = shared
  const { expiresAt, refresh } = tokens
  current = shared
  since = at
  if (isDevelopment) sessionStorage.setItem(DEVELOPMENT_USER, user)
  else sessionStorage.setItem(WAS_SIGNED_IN, settings?.issuer ?? '')
  showSignedIn(true)
  session.set({ user })
  clearTimeout(timer)
  if (expiresAt === Infinity) return
  const before = refresh === undefined ? WARN_BEFORE_MS : RENEW_BEFORE_MS
  const wait = Math.min(MAX_MS, Math.max(0, expiresAt - Date.now() - before))
  timer = setTimeout(() => {
    if (refresh !== undefined) void renew(shared)
    else session.set({ ...session.get(), endsAt: expiresAt })
  }, wait)
}

/** Has new tokens in place of those that were used, whichever tab gets them; where none will come, the page asks to sign in again. */
const renew = (used: Shared): Promise<void> => {
  renewing ??= renewSurely(used).finally(() => (renewing = undefined))
  return renewing
}

/** Tries again while the network, the issuer or the service is away: a session has ended once one of them says so. */
const renewSurely = async (used: Shared): Promise<void> => {
  for (let failures = 0; ; failures += 1)
    try {
      return await renewAlone(() => renewOnce(used))
    } catch (error) {
      if (current !== used) return
      if (isRejection(error)) return end()
      const isLate = used === rejected || Date.now() >= used.tokens.expiresAt
      session.set({ ...session.get(), isLate })
      await pause(waitMs(failures))
    }
}

/** Renews, unless another tab has done so while this one waited for its turn. */
const renewOnce = async (used: Shared): Promise<void> => {
  await askTabs(true)
  if (current !== used) return
  const tokens = await readTokens(used)
  // Not once somebody has signed out meanwhile.
  if (current === used) accept(tokens, used)
}

const readTokens = async ({ isDevelopment, user, tokens }: Shared): Promise<Tokens> => {
  if (isDevelopment) return await readDevelopmentTokens(user)
  const { renewTokens } = await oidc()
  const { refresh } = tokens
  if (refresh === undefined || settings === undefined) throw new Unrenewable()
  return await renewTokens(settings, refresh)
}

/** The issuer gave nothing to renew a session with. */
class Unrenewable extends Error {
  readonly status = 401
}

/** Statuses that say nothing of what was sent. */
const PASSING = [408, 425, 429]

const isRejection = (error: unknown): boolean => {
  const { status = 0 } = error as { status?: number }
  return status >= 400 && status < 500 && !PASSING.includes(status)
}

const end = (): void => session.set({ ...session.get(), ended: true })

export const signOut = async (): Promise<void> => {
  const left = current
  const leftAt = Date.now()
  forget(leftAt)
  notifyTabs({ leftAt })
  if (left === undefined || left.isDevelopment || settings === undefined) return
  const { leaveToSignOut } = await oidc()
  await leaveToSignOut(settings, left.tokens.refresh).catch(() => {})
}

const forget = (at: number): void => {
  current = undefined
  since = at
  clearTimeout(timer)
  showSignedIn(false)
  sessionStorage.removeItem(DEVELOPMENT_USER)
  sessionStorage.removeItem(WAS_SIGNED_IN)
  dropDrafts()
  session.set({})
}

/** Once a credential was rejected none is sent again before there is a new one: rejected ones are counted. */
const untilSure = async (signal: AbortSignal): Promise<void> => {
  if (current === rejected) await renewing
  await session.until(({ ended }) => ended !== true)
  signal.throwIfAborted()
}

/**
 * Sends with the credential of whoever is signed in. When it is rejected all requests wait, it is renewed once, and each is
 * sent once more. Signed links have their permission in them, and are not sent here.
 */
export const sendAsUser = async (request: Request, init?: RequestInit): Promise<Response> => {
  // It has a credential of its own.
  if (request.headers.has('authorization')) return await fetch(request, init)
  const signal = init?.signal ?? request.signal
  await untilSure(signal)
  const used = current
  const response = await sendWith(used, request.clone(), init)
  if (response.status !== 401 || used === undefined) return response
  if (current === used) {
    rejected = used
    await renew(used)
  }
  await untilSure(signal)
  const next = current
  if (next === undefined || next === used) return response
  const last = await sendWith(next, request, init)
  // The new one is no better: nothing more is sent until somebody has signed in.
  if (last.status === 401 && current === next) end()
  return last
}

const sendWith = (used: Shared | undefined, request: Request, init?: RequestInit) => {
  if (used !== undefined) request.headers.set('authorization', `Bearer ${used.tokens.access}`)
  return fetch(request, init)
}

const DRAFTS = 'kiln.draft.'
const keyOf = (user: string, name: string): string => `${DRAFTS}${user}.${name}`

/** Reads what a user began to write in this tab: it outlives a reload, and signing in again. */
export const readDraft = (user: string, name: string): unknown =>
  JSON.parse(sessionStorage.getItem(keyOf(user, name)) ?? 'null')

export const keepDraft = (user: string, name: string, draft: unknown): void => {
  try {
    sessionStorage.setItem(keyOf(user, name), JSON.stringify(draft))
  } catch {
    // The room of a tab is small, and a draft is worth no error.
  }
}

/** Nothing of a user stays in the tab after signing out. */
const dropDrafts = (): void => {
  for (const key of Object.keys(sessionStorage))
    if (key.startsWith(DRAFTS)) sessionStorage.removeItem(key)
}
