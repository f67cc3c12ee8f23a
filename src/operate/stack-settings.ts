import { readFileSync } from 'node:fs'

/** State that `npm start` leaves there: src/local/claim.ts has its form. */
const PATH = '.data/stack.json'

interface Stack {
  supervisor: { pid: number }
  settings?: NodeJS.ProcessEnv
}

/** Settings of the stack that runs on this checkout; none where there is none. */
export const readStackSettings = (path = PATH): NodeJS.ProcessEnv => {
  try {
    const { supervisor, settings = {} } = JSON.parse(readFileSync(path, 'utf8')) as Stack
    // Throws where nobody has that pid: the stack was killed.
    process.kill(supervisor.pid, 0)
    return settings
  } catch {
    return {}
  }
}
