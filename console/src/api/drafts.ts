const DRAFTS = 'kiln.draft.'
const keyOf = (user: string, name: string): string => `${DRAFTS}${user}.${name}`

/** What a user began to write in this tab: it outlives a reload, and signing in again. */
export const readDraft = (user: string, name: string): unknown => {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(user, name)) ?? 'null')
  } catch {
    return undefined
  }
}

export const keepDraft = (user: string, name: string, draft: unknown): void => {
  try {
    sessionStorage.setItem(keyOf(user, name), JSON.stringify(draft))
  } catch {
    // The room of a tab is small, and a draft is worth no fault.
  }
}

/** Nothing of a user stays in the tab after signing out. */
export const dropDrafts = (): void => {
  for (const key of Object.keys(sessionStorage))
    if (key.startsWith(DRAFTS)) sessionStorage.removeItem(key)
}
