import { pause } from '../../../client/src/lib/pause.ts'
import type { Tokens } from './oidc.ts'

/** A session as tabs pass it on: it is in their memory, and in no storage. */
export interface Shared {
  tokens: Tokens
  user: string
  /** A development user: no issuer knows them. */
  isDevelopment: boolean
  /** When its tokens came (milliseconds since 1970). */
  at: number
}

/** A tab that asks, the session of one that has it, or the time at which one signed out. */
type Message = { ask: true } | { shared: Shared } | { leftAt: number }

interface Tab {
  get(): Shared | undefined
  take(shared: Shared): void
  leave(at: number): void
}

const channel = new BroadcastChannel('kiln.session')
/** Without TLS a browser has none, but on this machine. */
const { locks } = navigator as { locks?: LockManager }

/** Lock of every tab that is signed in: others know by it whether somebody will respond. */
const SIGNED_IN = 'kiln.signed-in'
/** Lock of the one tab that renews. */
const RENEWAL = 'kiln.renewal'

/** Ends the wait for a tab that stands still, or where nobody knows of others. */
const PATIENCE_MS = locks === undefined ? 200 : 2000

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has one origin
const post = (message: Message): void => channel.postMessage(message)

/** Responds to tabs that ask, and takes sessions that begin, are renewed or end in others. */
export const joinTabs = ({ get, take, leave }: Tab): void =>
  channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    if ('leftAt' in data) return leave(data.leftAt)
    if ('shared' in data) return take(data.shared)
    const shared = get()
    if (shared) post({ shared })
  })

export const notifyTabs = (message: Exclude<Message, { ask: true }>): void => post(message)

/** Asks the other tabs for the session; resolves once one has responded, or when none is signed in. */
export const askTabs = async (isSignedIn: boolean): Promise<void> => {
  const taken = (await locks?.query())?.['held'] ?? []
  const signedIn = taken.filter(({ name }) => name === SIGNED_IN).length
  if (locks !== undefined && signedIn === (isSignedIn ? 1 : 0)) return
  const response = new AbortController()
  const { signal } = response
  channel.addEventListener(
    'message',
    ({ data }: MessageEvent<Message>) => 'shared' in data && response.abort(),
    { signal },
  )
  post({ ask: true })
  await pause(PATIENCE_MS, signal).catch(() => {})
  response.abort()
}

let left: (() => void) | undefined

/** Shows to other tabs that this one is signed in, or no more. */
export const showSignedIn = (isSignedIn: boolean): void => {
  if (isSignedIn === (left !== undefined)) return
  left?.()
  left = undefined
  if (!isSignedIn) return
  const untilLeft = new Promise<void>((resolve) => (left = resolve))
  void locks?.request(SIGNED_IN, { mode: 'shared' }, () => untilLeft)
}

/** Works while no other tab renews. */
export const renewAlone = async (work: () => Promise<void>): Promise<void> => {
  await (locks === undefined ? work() : locks.request(RENEWAL, work))
}
