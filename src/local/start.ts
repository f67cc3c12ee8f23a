import { once } from 'node:events'
import { join, relative } from 'node:path'

import { describeFirstTask, USER } from './first-task.ts'
import { listenForInterrupt, type Interrupt } from './interrupt.ts'
import { ROOT } from './root.ts'
import { startStack, type Stack } from './stack.ts'

/**
 * Settings that the host's own clients need: its command-line tool publishes with a personal access token alone, its video
 * nodes extend what an address names, and all have their own names for what names the host or a vendor.
 */
export const HOST_CLIENTS = {
  PUBLISH_AUTH: 'token',
  VIDEO_EXTEND_SOURCE: 'any',
  WIRE_ALIASES: join(ROOT, 'deploy', 'aliases', 'host-clients.json'),
}

/** Runs the whole service until it is interrupted; the exit code of the process. */
export const runStart = async (
  dataDir: string,
  { hostClients }: { hostClients: boolean },
): Promise<number> => {
  const interrupt = listenForInterrupt(announceStop)
  const { PORT } = process.env
  try {
    const stack = await startStack({
      dataDir,
      issuerDir: dataDir,
      env: process.env,
      // 0 asks for a free one.
      ...(!PORT && { port: 8080 }),
      fixedPort: Number(PORT) || undefined,
      uiPort: 8233,
      ...(hostClients && { settings: HOST_CLIENTS }),
      say,
      interrupt,
    })
    process.stdout.write(
      await describeStack(stack, 'Ctrl-C stops it all; the data stays.', process.env),
    )
    return await serveUntilInterrupted(stack, interrupt)
  } catch (error) {
    if (interrupt.stop.aborted) return INTERRUPTED
    throw error
  }
}

/** As a shell counts a process that Ctrl-C ended. */
export const INTERRUPTED = 130

/** Waits for the interrupt and for the end of the stack. */
export const serveUntilInterrupted = async (
  stack: Stack,
  interrupt: Interrupt,
): Promise<number> => {
  if (!interrupt.stop.aborted) await once(interrupt.stop, 'abort')
  await stack.stop()
  say('everything is stopped')
  return interrupt.force.aborted ? INTERRUPTED : 0
}

export const say = (line: string): void => {
  // In the place of a line that shows progress.
  process.stdout.write(`${process.stdout.isTTY ? '\u001B[2K' : ''}${line}\n`)
}

export const announceStop = (): void => say('stopping; Ctrl-C again ends everything at once')

/** Lists what somebody needs who is to use the stack. */
export const describeStack = async (
  stack: Stack,
  last: string,
  env: NodeJS.ProcessEnv = {},
): Promise<string> => {
  const token = await stack.token(USER)
  const pids = Object.entries(stack.pids()).map(([name, pid]) => `${name} ${pid}`)
  const rows = {
    console: `${stack.url}/console/`,
    api: stack.url,
    docs: `${stack.url}/docs`,
    'Temporal UI': stack.ui ?? 'that of the server in TEMPORAL_ADDRESS',
    'webhook secret': `${stack.webhookSecret} (of tasks made without a credential)`,
    logs: relative('', stack.logDir),
    processes: pids.join(', '),
  }
  const table = Object.entries(rows).map(([name, value]) => `  ${name.padEnd(14)} ${value}`)
  return `
Kiln is ready.

${table.join('\n')}

A bearer token of ${USER}, good for 12 hours (npm run kiln -- token --user <user> prints more;
--user operator is the platform admin, unless ADMIN_SUBJECTS names others):

${token}

A first task, and then what became of it:

${await describeFirstTask(stack.url, env)}

${last}
`
}
