import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

import { ROOT } from '../../src/local/root.ts'
import { makeCallers } from './callers.ts'
import type { Report } from './callers.ts'
import { timed } from './engine.ts'
import type { Say } from './engine.ts'
import { containerOf, crash, untilStartedAgain, whileCutOff } from './stack.ts'
import type { Stack } from './stack.ts'

const OWN = ['api', 'worker-core', 'worker-media'] as const
const UP = ['up', '--detach', '--wait']
/** Longer than a heartbeat and a statement may take. */
const CUT_MS = 8000

/** Starts the whole file, looks at it, and kills, cuts and restarts its parts while callers go on. */
export const testFaults = async (stack: Stack, { say, add }: Report): Promise<void> => {
  await timed(say, 'compose up --detach --wait', () => stack.compose(UP))
  say(await stack.compose(['ps', '--format', 'table {{.Service}}\t{{.Status}}\t{{.Ports}}']))
  await sayStarts(stack, say)
  for (const service of OWN) await assertConfined(stack, service)
  await timed(say, 'the jobs of the demonstration', () =>
    // Its client repeats nothing; an api that is short of time responds with 503 to it.
    runDemo(stack).catch(() => runDemo(stack)),
  )

  const callers = await makeCallers(stack)
  for (const [what, work] of Object.entries(listIssues(stack)))
    await timed(say, what, async () => {
      const row = await callers.during(what, work)
      await callers.assertLedger()
      add(row)
    })
}

const listIssues = (stack: Stack): Record<string, () => Promise<void>> => {
  const again = (service: string, end: () => Promise<unknown>) => () =>
    untilStartedAgain(stack, service, end)
  const cut = (service: string) => () => whileCutOff(stack, service, () => sleep(CUT_MS))
  const server = (service: string, ...words: string[]) =>
    stack.docker([...words, containerOf(stack, service)])
  return {
    ...Object.fromEntries(
      [...OWN, 'temporal'].map((service) => [
        `${service} crashes`,
        again(service, () => crash(stack, service)),
      ]),
    ),
    'postgres is killed': again('postgres', async () => {
      await server('postgres', 'kill', '--signal', 'KILL')
      await server('postgres', 'start')
    }),
    ...Object.fromEntries(
      [...OWN, 'temporal', 'postgres'].map((service) => [`${service} is cut off`, cut(service)]),
    ),
    'temporal stands still': async () => {
      await server('temporal', 'pause')
      await sleep(CUT_MS)
      await server('temporal', 'unpause')
    },
    'all restart': async () => {
      await stack.compose(['restart'])
      await stack.compose(UP)
    },
  }
}

/** Everything is there after a `down`, and nothing after one with the volumes. */
export const testVolumes = async (stack: Stack, { say, add }: Report): Promise<void> => {
  const down = ['down', '--timeout', '60']
  const up = (what: string) => timed(say, what, () => stack.compose(UP))
  await up('up')
  const callers = await makeCallers(stack)
  add(await callers.during('before down', async () => {}))
  await timed(say, 'down', () => stack.compose(down))
  await up('up with the volumes')
  await callers.assertLedger()
  add(await callers.during('after down and up', async () => {}))
  await callers.assertLedger()
  await stack.compose([...down, '--volumes'])
  await up('up without the volumes')
  assert.deepEqual(await stack.query('select count(*) from task'), ['0'])
  callers.forget()
  add(await callers.during('after down --volumes', async () => {}))
  await callers.assertLedger()
}

const runDemo = async (stack: Stack): Promise<void> => {
  const child = spawn(process.execPath, ['tools/run.mjs', 'src/local.ts', 'demo'], {
    cwd: ROOT,
    env: { ...process.env, KILN_URL: stack.url, KILN_TOKEN: await stack.token('demo') },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines: string[] = []
  child.stdout.on('data', (chunk: Buffer) => lines.push(chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  assert.equal(code, 0, lines.join('').slice(-4000))
}

/** From the start of its container until each process of ours says that it is ready. */
const sayStarts = async ({ docker, ...stack }: Stack, say: Say): Promise<void> => {
  for (const service of OWN) {
    const container = containerOf({ docker, ...stack }, service)
    const startedAt = await docker(['inspect', '--format', '{{.State.StartedAt}}', container])
    const log = await docker(['logs', '--timestamps', container])
    const ready = /^(\S+) .*"msg":"(?:api|worker) ready"/m.exec(log)?.[1] ?? ''
    const ms = Date.parse(ready) - Date.parse(startedAt.trim())
    const memory = await docker(['stats', '--no-stream', '--format', '{{.MemUsage}}', container])
    say(`${service} is ready after ${ms} ms and has ${memory.split(' ')[0]}`)
  }
}

const PROBE = `
  touch /app/x 2>/dev/null && echo root is writable
  touch /tmp/x /var/lib/kiln/x || echo tmp or the store is not writable
  rm -f /tmp/x /var/lib/kiln/x
  id -u
  for pid in 1 $(cat /proc/1/task/1/children); do
    grep -E '^(CapPrm|CapEff|CapBnd|NoNewPrivs):' /proc/$pid/status
  done
`

/** Without a writable root, capabilities, further rights and the rights of root. */
const assertConfined = async ({ docker, ...stack }: Stack, service: string): Promise<void> => {
  const container = containerOf({ docker, ...stack }, service)
  const found = (await docker(['exec', container, 'sh', '-c', PROBE])).replaceAll(/\s+/g, ' ')
  const none = '0000000000000000'
  const one = `CapPrm: ${none} CapEff: ${none} CapBnd: ${none} NoNewPrivs: 1 `
  assert.equal(found, `1000 ${one}${one}`, service)
}
