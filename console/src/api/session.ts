import { makeStore } from './store.ts'

export interface Session {
  /** Undefined: signed out. */
  user?: string
  /** True until it is known whether the reload of a signed-in page can go on. */
  starting?: boolean
}

export interface DevelopmentUser {
  user: string
  platform_admin: boolean
}

/** The name alone: a reload asks for a new token. */
const STORED = 'kiln.user'

export const session = makeStore<Session>({ starting: true })

/** Not in the store, which components read. */
let token: string | undefined

/** Takes up the session of a page that was reloaded. */
export const startSession = async (): Promise<void> => {
  const user = sessionStorage.getItem(STORED)
  if (user === null) return session.set({})
  await signInAs(user).catch(() => session.set({}))
}

export const listDevelopmentUsers = async (): Promise<DevelopmentUser[]> => {
  const answer = await fetch('/development/users')
  return answer.ok ? ((await answer.json()) as DevelopmentUser[]) : []
}

/** Signs in as one of the users of the embedded stack. */
export const signInAs = async (user: string): Promise<void> => {
  const answer = await fetch('/development/tokens', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ user }),
  })
  if (!answer.ok) throw new Error(`no token for ${user}: ${answer.status}`)
  const made = (await answer.json()) as { token: string }
  token = made.token
  sessionStorage.setItem(STORED, user)
  session.set({ user })
}

export const signOut = (): void => {
  token = undefined
  sessionStorage.removeItem(STORED)
  session.set({})
}

/** Sends with the credential of whoever is signed in. Signed links have their permission in them, and are not sent here. */
export const sendAsUser = async (request: Request, init?: RequestInit): Promise<Response> => {
  if (token !== undefined) request.headers.set('authorization', `Bearer ${token}`)
  return await fetch(request, init)
}
