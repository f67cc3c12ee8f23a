import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import fc from 'fast-check'

import { ROOT } from '../../src/local/root.ts'
import { listEngineProcesses } from '../faults/engine-processes.ts'
import { ageScratch, untilSwept } from '../faults/scratch.ts'
import { VIDEO_API, makeClient } from '../support/client.ts'
import type { Client } from '../support/client.ts'
import { readDocument } from '../support/contract.ts'
import { startWebhookReceiver } from '../support/receiver.ts'
import { startTestServers } from '../support/servers.ts'
import { startService } from '../support/service.ts'
import type { Service } from '../support/service.ts'
import { makeFiles, makePublisher, render } from './fuzz-files.ts'
import {
  GIVE_UP_MS,
  SETTINGS,
  count,
  firstLine,
  makeJudge,
  makeSender,
  makeThings,
  readJson,
} from './fuzz-http.ts'
import { learn, makeRequests } from './fuzz-requests.ts'
import type { Wire } from './fuzz-requests.ts'
import { waitUntilSettled } from './scenario.ts'
import { readPeak } from './watch.ts'

export interface FuzzOptions {
  seed: number
  seconds: number
  /** The only request to send. */
  only: string | undefined
}

/** Longest that an answer may take. One that takes longer on a busy machine is asked for again, alone. */
const LONGEST_MS = 2000
const LANES = 8
const FILE_LANES = 2
/** In MiB: a child's own limit, and what it may grow by between two looks of its parent. */
const MOST_MEMORY = 512 + 256

/** Sends bad input of every kind for some time, and answers whether only what is documented came of it. */
export const fuzz = async (options: FuzzOptions, say: (line: string) => void): Promise<boolean> => {
  const servers = await startTestServers(() => {})
  Object.assign(process.env, servers.env)
  try {
    const service = await startService({ env: SETTINGS })
    const receiver = await startWebhookReceiver()
    try {
      const faults = await attack(service, receiver.url('/'), options, say)
      const left = await findLeft(service)
      for (const what of left.slice(0, 50)) say(`  ${what}`)
      say(`  ${faults} faults, ${left.length} left behind`)
      return faults + left.length === 0
    } finally {
      await service.stop()
      await receiver.stop()
    }
  } finally {
    await servers.stop()
  }
}

/** Sends requests and files, says what came of them, and answers how often that was wrong. */
const attack = async (
  service: Service,
  hook: string,
  { seed, seconds, only }: FuzzOptions,
  say: (line: string) => void,
): Promise<number> => {
  const things = await makeThings(service, hook)
  const requests = makeRequests(await readDocument(), things)
  const client = makeClient(service.baseUrl, await service.token('files'))
  const files = await makeFiles(await renderVideo(client))
  const publish = await makePublisher(client)
  const send = makeSender(service.baseUrl)
  const counts = new Map<string, number>()
  const judge = await makeJudge(counts)
  let faults = 0
  const late = new Map<number, Wire>()
  let slowest = 0
  let peak = 0
  const folder = join(ROOT, '.built/faults', `fuzz-${seed}-${Date.now()}`)
  const keep = async (name: string, what: string, bytes: Buffer): Promise<void> => {
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, name), bytes)
    faults += 1
    if (faults <= 50) say(`  ${name}: ${what}, kept in ${folder}`)
  }
  const draw = <T>(from: fc.Arbitrary<T>, number: number): T =>
    fc.sample(from, { seed: seed * 10_000_000 + number, numRuns: 1 })[0] as T

  const sendRequest = async (number: number): Promise<void> => {
    const wire = draw(requests, number)
    const answer = await send(wire)
    const fault = judge(wire, answer)
    if (fault !== undefined)
      await keep(`${number}.http`, `${fault}: ${firstLine(wire)}`, wire.bytes)
    if (answer && answer.status < 300) learn(things, wire.template, readJson(answer))
    if (answer && answer.ms > LONGEST_MS) late.set(number, wire)
    else slowest = Math.max(slowest, answer?.ms ?? 0)
  }
  const sendFile = async (number: number): Promise<void> => {
    const file = draw(files, number)
    const sent = file.route === '' ? publish(file, `fuzz-${number}`) : render(client, file)
    await sent.then(
      (end) => count(counts, `${file.kind}: ${end}`),
      (error: unknown) => keep(`${number}.${file.kind}`, String(error), file.bytes),
    )
    const children = await listEngineProcesses(service.storagePath)
    peak = Math.max(peak, ...(await Promise.all(children.map(readPeak))))
  }
  const overAt = Date.now() + seconds * 1000
  /** Sends every so many'th case, one after another. */
  const run = (lanes: number, sendOne: (number: number) => Promise<void>) =>
    Array.from({ length: lanes }, async (_, lane) => {
      for (let number = lane + 1; Date.now() < overAt; number += lanes) await sendOne(number)
    })
  if (only === undefined)
    await Promise.all([...run(LANES, sendRequest), ...run(FILE_LANES, sendFile)])
  else await sendRequest(Number(only))
  for (const [number, wire] of late) {
    const { ms = GIVE_UP_MS } = (await send(wire)) ?? {}
    if (ms > LONGEST_MS) await keep(`${number}.http`, `${ms} ms: ${firstLine(wire)}`, wire.bytes)
  }
  for (const [what, times] of [...counts].toSorted(([one], [other]) => one.localeCompare(other)))
    say(`  ${String(times).padStart(7)} ${what}`)
  say(`  the slowest answer after ${slowest} ms, a child had up to ${Math.round(peak)} MiB`)
  return faults + (peak > MOST_MEMORY ? 1 : 0)
}

/** A right video, of the service itself. */
const renderVideo = async (client: Client): Promise<Buffer> => {
  const { body } = await client.create(`${VIDEO_API}/text2video`, { prompt: 'ocean' })
  const { creations } = await client.untilVideoEnded(String(body['task_id']))
  return Buffer.from(await (await fetch(String(creations[0]?.url))).arrayBuffer())
}

/** What has not ended when it should have, files that nobody removes, processes that have ended, and errors in logs. */
const findLeft = async (service: Service): Promise<string[]> => {
  const left = (await waitUntilSettled(service)).map(({ what }) => what)
  await ageScratch(service)
  await untilSwept(service).catch((error: unknown) => left.push(String(error)))
  for (const role of ['api', 'core', 'media'] as const) {
    const { log, ended } = service.entry(role)
    const end = await Promise.race([ended, Promise.resolve(undefined)])
    if (end !== undefined) left.push(`${role} has ended: ${end}`)
    const errors = log.filter((line) => /"level":[56]0|^\(node:/.test(line))
    left.push(...errors.map((line) => `${role} says ${line}`))
  }
  return left
}
