import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { ROOT } from './local/root.ts'

const DATA_DIR = join(ROOT, '.data')

const USAGE = `usage:
  npm start                 the whole service on this machine, until Ctrl-C
  npm run demo [-- --keep]  one job of every kind; --keep leaves the service running
  npm run token -- <user>   a bearer token`

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { keep: { type: 'boolean', default: false } },
})
const [command = 'start', ...rest] = positionals

/** Runs a command. It is imported only then: a token needs none of the servers. */
const commands: Record<string, () => Promise<number>> = {
  start: async () => {
    const { runStart } = await import('./local/start.ts')
    return await runStart(DATA_DIR)
  },
  demo: async () => {
    const { runDemoCommand } = await import('./local/demo-command.ts')
    return await runDemoCommand({ dataDir: DATA_DIR, keep: values.keep })
  },
  token: async () => {
    const { printToken } = await import('./local/token.ts')
    return await printToken(DATA_DIR, rest[0])
  },
}

// The terminal may be gone before everything is stopped.
process.stdout.on('error', () => {})
process.stderr.on('error', () => {})

const run = commands[command]
try {
  if (run === undefined) throw new Error(`there is no command ${command}\n${USAGE}`)
  if (process.platform === 'win32')
    throw new Error('the embedded stack runs on Linux and macOS; on Windows use it in WSL 2')
  // Explicit, because an interrupted start may have left a connection that keeps the process alive.
  process.exit(await run())
} catch (error) {
  process.stderr.write(`kiln: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
}
