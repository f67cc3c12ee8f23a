const KEY = 'kiln.reloaded'
const ONCE_MS = 60_000

/** Loads the page anew, but not again within a minute: what is missing then will not come. */
export const reloadOnce = (event?: Event): void => {
  const last = Number(sessionStorage.getItem(KEY) ?? 0)
  if (Date.now() - last < ONCE_MS) return
  event?.preventDefault()
  sessionStorage.setItem(KEY, String(Date.now()))
  location.reload()
}
