import { REDIRECT_PATH } from './links.ts'
import type { Tokens } from './oidc.ts'
import type { Data } from './schema.ts'
import { makeStore } from './store.ts'

export interface Session {
  /** Name of the user who is signed in; undefined: nobody. */
  user?: string
  /** Until it is known whether a page that was reloaded goes on as somebody. */
  starting?: boolean
  /** The session cannot be renewed: it ends then (milliseconds since 1970), or has ended. Requests wait. */
  endsAt?: number
  ended?: boolean
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

/** Never in the store, which components read, and nowhere else. */
let tokens: Tokens | undefined
let settings: Settings | undefined
let renewing: Promise<boolean> | undefined
let timer: ReturnType<typeof setTimeout> | undefined

/** One tab that signs out signs out all. */
const channel = new BroadcastChannel('kiln.session')
channel.addEventListener('message', () => forget())

/** Only what needs it loads what speaks to an issuer. */
const oidc = () => import('./oidc.ts')

const here = (): string => location.pathname + location.search + location.hash

/** Takes up the session of a page that was reloaded. */
export const startSession = async (known: Settings): Promise<void> => {
  settings = known
  const user = sessionStorage.getItem(DEVELOPMENT_USER)
  // That page finishes by itself.
  if (location.pathname === REDIRECT_PATH) return
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
export const signInAs = async (user: string): Promise<void> => {
  const response = await fetch('/development/tokens', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ user }),
  })
  if (!response.ok) throw new Error(`There is no token for ${user}: ${response.status}.`)
  const { token } = (await response.json()) as { token: string }
  sessionStorage.setItem(DEVELOPMENT_USER, user)
  // A rejection renews it.
  accept({ access: token, refresh: undefined, expiresAt: Infinity, user })
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
    if (result.tokens) {
      sessionStorage.setItem(WAS_SIGNED_IN, known.issuer)
      accept(result.tokens)
    } else forget()
    return result.path
  } catch (error) {
    forget()
    throw error
  }
}

/** Takes new tokens, and renews them a minute before their end; where that is not possible, says two minutes before when the session ends. */
const accept = (given: Tokens): void => {
  const { expiresAt, refresh, user = session.get().user ?? '' } = given
  tokens = given
  session.set({ user })
  clearTimeout(timer)
  if (expiresAt === Infinity) return
  const before = refresh === undefined ? WARN_BEFORE_MS : RENEW_BEFORE_MS
  const wait = Math.min(MAX_MS, Math.max(0, expiresAt - Date.now() - before))
  timer = setTimeout(() => {
    if (refresh !== undefined) void renew()
    else session.set({ ...session.get(), endsAt: expiresAt })
  }, wait)
}

/** Asks once for a new token, whoever needs it; false where that was not possible, and then the page asks to sign in again. */
const renew = (): Promise<boolean> => {
  renewing ??= renewOnce()
    .catch(() => false)
    .then((renewed) => {
      renewing = undefined
      if (!renewed && tokens !== undefined) session.set({ ...session.get(), ended: true })
      return renewed
    })
  return renewing
}

const renewOnce = async (): Promise<boolean> => {
  const user = sessionStorage.getItem(DEVELOPMENT_USER)
  if (user !== null) {
    await signInAs(user)
    return true
  }
  if (tokens?.refresh === undefined || settings === undefined) return false
  const { renewTokens } = await oidc()
  const renewed = await renewTokens(settings, tokens.refresh)
  // Signed out meanwhile.
  if (tokens === undefined) return false
  accept(renewed)
  return true
}

export const signOut = async (): Promise<void> => {
  const refresh = tokens?.refresh
  const atIssuer = tokens !== undefined && sessionStorage.getItem(WAS_SIGNED_IN) !== null
  forget()
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has one origin
  channel.postMessage('signed out')
  if (!atIssuer || settings === undefined) return
  const { leaveToSignOut } = await oidc()
  await leaveToSignOut(settings, refresh).catch(() => {})
}

const forget = (): void => {
  tokens = undefined
  clearTimeout(timer)
  sessionStorage.removeItem(DEVELOPMENT_USER)
  sessionStorage.removeItem(WAS_SIGNED_IN)
  dropDrafts()
  session.set({})
}

/** Once a credential was rejected none is sent again before there is a new one: rejected ones are counted. */
const untilSure = async (signal: AbortSignal): Promise<void> => {
  await renewing
  await session.until(({ ended }) => ended !== true)
  signal.throwIfAborted()
}

/**
 * Sends with the credential of whoever is signed in. When it is rejected all requests wait, it is renewed once, and each is
 * sent once more. Signed links have their permission in them, and are not sent here.
 */
export const sendAsUser = async (request: Request, init?: RequestInit): Promise<Response> => {
  const signal = init?.signal ?? request.signal
  await untilSure(signal)
  const used = tokens
  const response = await sendWith(used, request.clone(), init)
  if (response.status !== 401 || used === undefined) return response
  if (tokens === used) await renew()
  await untilSure(signal)
  const next = tokens
  if (next === undefined || next === used) return response
  const last = await sendWith(next, request, init)
  // The new one is no better: nothing more is sent until somebody has signed in.
  if (last.status === 401 && tokens === next) session.set({ ...session.get(), ended: true })
  return last
}

const sendWith = (used: Tokens | undefined, request: Request, init?: RequestInit) => {
  if (used !== undefined) request.headers.set('authorization', `Bearer ${used.access}`)
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
