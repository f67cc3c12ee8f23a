const KEY = 'kiln.reloaded'
const ONCE_MS = 60_000

/** Loads the page anew, but not again within a minute, because what is missing then will not come; says whether it does. */
export const reloadOnce = (): boolean => {
  const last = Number(sessionStorage.getItem(KEY) ?? 0)
  if (Date.now() - last < ONCE_MS) return false
  sessionStorage.setItem(KEY, String(Date.now()))
  location.reload()
  return true
}
