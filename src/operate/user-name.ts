import { userInfo } from 'node:os'

/** Name of the system's user; the number where the system has no name for it, as in a container. */
export const readUserName = (read: () => { username: string } = userInfo): string => {
  try {
    return read().username
  } catch {
    return String(process.getuid?.() ?? '')
  }
}
