import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { ROOT } from './local/root.ts'

const DATA_DIR = join(ROOT, '.data')

const USAGE = `usage:
  npm start [-- --host-clients]
                            the whole service on this machine, until Ctrl-C; --host-clients sets
                            what the host's own clients need
  npm run demo [-- --keep]  one job of every kind; --keep leaves the service running
  npm run kiln -- token --user <name>
                            a bearer token`

interface Options {
  keep: boolean
  hostClients: boolean
  user: string | undefined
}

/** Runs a command. It is imported only then: a token needs none of the servers. */
const commands: Record<string, (options: Options) => Promise<number>> = {
  start: async ({ hostClients }) => {
    const { runStart } = await import('./local/start.ts')
    return await runStart(DATA_DIR, { hostClients })
  },
  demo: async ({ keep }) => {
    const { runDemoCommand } = await import('./local/demo-command.ts')
    return await runDemoCommand({ dataDir: DATA_DIR, keep })
  },
  token: async ({ user }) => {
    const { printToken } = await import('./local/issuer.ts')
    return await printToken(DATA_DIR, user)
  },
}

// The terminal may be gone before everything is stopped.
process.stdout.on('error', () => {})
process.stderr.on('error', () => {})

const main = async (): Promise<number> => {
  const { positionals, values } = readArguments()
  if (values.help) {
    process.stdout.write(`${USAGE}\n`)
    return 0
  }
  const [command = 'start', ...rest] = positionals
  const run = commands[command]
  if (run === undefined) throw new Error(`there is no command ${command}\n${USAGE}`)
  if (rest.length > 0) throw new Error(`${rest.join(' ')} is too much\n${USAGE}`)
  if (process.platform === 'win32')
    throw new Error('the embedded stack runs on Linux and macOS; on Windows use it in WSL 2')
  return await run({ keep: values.keep, hostClients: values['host-clients'], user: values.user })
}

const readArguments = () => {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        help: { type: 'boolean', default: false },
        keep: { type: 'boolean', default: false },
        'host-clients': { type: 'boolean', default: false },
        user: { type: 'string' },
      },
    })
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`, {
      cause: error,
    })
  }
}

try {
  // Explicit, because an interrupted start may have left a connection that keeps the process alive.
  process.exit(await main())
} catch (error) {
  process.stderr.write(`kiln: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
}
