import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

import { findPort } from '../../src/local/port.ts'
import { makeCallers } from './callers.ts'
import type { Report } from './callers.ts'
import { timed } from './engine.ts'
import type { Engine } from './engine.ts'
import { makeStack } from './stack.ts'
import type { Stack } from './stack.ts'

const COUNT = 3
const PARTS = ['api', 'worker-core', 'worker-media'] as const
const LANES = 6
const AWAY_MS = 15_000

/** The nth container of every part is a machine: addresses and folders of its own, and the bucket in common. */
export const makeMachines = async (engine: Engine): Promise<Stack> => {
  const scratch = { type: 'volume', target: '/var/lib/kiln' }
  const part = { volumes: [scratch] }
  const first = await findPort()
  return await makeStack(engine, 'kiln-machines', {
    settings: {
      PORT: `${first}-${first + COUNT - 1}`,
      PUBLIC_URL: `http://127.0.0.1:${first}`,
      STORAGE: 's3',
      S3_ENDPOINT: 'http://s3:7070',
      S3_BUCKET: 'kiln',
      S3_PATH_STYLE: 'true',
      S3_ACCESS_KEY_ID: 'kiln',
      S3_SECRET_ACCESS_KEY: randomBytes(24).toString('hex'),
    },
    services: Object.fromEntries(PARTS.map((name) => [name, part])),
    profiles: ['s3'],
  })
}

export const testMachines = async (stack: Stack, { say, add }: Report): Promise<void> => {
  const callers = await makeCallers(stack)
  const during = async (what: string, count: number, work: () => Promise<void>): Promise<void> => {
    const urls = await listUrls(stack, count)
    const row = await timed(say, what, () => callers.during(what, work, { lanes: LANES, urls }))
    await callers.assertLedger()
    add(row)
  }
  for (const count of [1, 2, COUNT]) {
    await timed(say, `up of ${count}`, () => stack.compose(scaleTo(count)))
    await during(`machines: ${count}`, count, () => sleep(AWAY_MS))
  }
  await during('a machine is killed', COUNT, async () => {
    await stack.docker(['kill', '--signal', 'KILL', ...machine(stack, 2)])
    await sleep(AWAY_MS)
    await stack.docker(['start', ...machine(stack, 2)])
  })
  await during('a machine is cut off', COUNT, async () => {
    const each = async (verb: string): Promise<void> => {
      for (const name of machine(stack, COUNT))
        await stack.docker(['network', verb, `${stack.project}_data`, name])
    }
    await each('disconnect')
    await sleep(AWAY_MS)
    await each('connect')
  })
}

const scaleTo = (count: number): string[] =>
  ['up', '--detach', '--wait'].concat(PARTS.map((name) => `--scale=${name}=${count}`))

const machine = ({ project }: Stack, index: number): string[] =>
  PARTS.map((name) => `${project}-${name}-${index}`)

const listUrls = async (stack: Stack, count: number): Promise<string[]> => {
  const urls: string[] = []
  for (let index = 1; index <= count; index += 1) {
    const [api = ''] = machine(stack, index)
    urls.push(`http://${(await stack.docker(['port', api, '8080'])).trim()}`)
  }
  return urls
}
