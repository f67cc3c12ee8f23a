import { after, before } from 'node:test'

/**
 * Starts something before the first test of a file or a suite and ends it after the last. Until then it has no members.
 * The hooks of a file run side by side: what needs something else that is started belongs into a suite.
 */
export const use = <T extends object>(
  start: () => T | Promise<T>,
  end: (used: T) => unknown = () => {},
): T => {
  const used = {} as T
  before(async () => void Object.assign(used, await start()))
  after(() => Object.keys(used).length > 0 && end(used))
  return used
}
