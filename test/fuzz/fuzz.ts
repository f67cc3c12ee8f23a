import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import fc from 'fast-check'

import { withServers } from '../support/keep.ts'
import { ROOT } from '../../src/local/root.ts'
import { listEngineProcesses } from '../faults/engine-processes.ts'
import { untilCleaned } from '../faults/scratch.ts'
import { waitUntilSettled } from '../nemesis/scenario.ts'
import { readPeak } from '../nemesis/watch.ts'
import { VIDEO_API, makeClient } from '../support/client.ts'
import type { Client } from '../support/client.ts'
import { readDocument } from '../support/contract.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { startWebhookReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'
import type { Service } from '../support/service.ts'
import { makeFiles, makePublisher, render } from './files.ts'
import { learn, makeRequests } from './requests.ts'
import type { Wire } from './requests.ts'
import {
  SETTINGS,
  count,
  firstLine,
  makeValidate,
  makeSender,
  makeThings,
  readJson,
} from './wire.ts'

export interface FuzzOptions {
  seed: number
  seconds: number
  only: string | undefined
}

type Say = (line: string) => void

/** Milliseconds that a response may take. One that takes longer on a busy machine is asked for again, alone. */
const LONGEST_MS = 2000
const LANES = 8
const FILE_LANES = 2
/** In MiB: a child's own limit, and what it may grow by between two polls of its parent. */
const MAX_MEMORY = 512 + 256

/** Sends bad input of every kind for some time; true when only what is documented came of it. */
export const fuzz = async (options: FuzzOptions, say: Say): Promise<boolean> =>
  await withServers(async (keep) => {
    const receiver = keep(await startWebhookReceiver())
    const service = keep(await startService({ env: SETTINGS }))
    const issues = await attack(service, receiver.url('/'), options, say)
    const left = await findLeft(service)
    for (const what of left.slice(0, 50)) say(`  ${what}`)
    say(`  ${issues} issues, ${left.length} left behind`)
    return issues + left.length === 0
  })

/** Sends requests and files, says what came of them, and returns how often that was wrong. */
const attack = async (
  service: Service,
  hook: string,
  { seed, seconds, only }: FuzzOptions,
  say: Say,
): Promise<number> => {
  const tally = makeTally(seed, say)
  const requests = await makeRequestLane(service, hook, tally)
  const sendFile = await makeFileLane(service, tally)
  const overAt = Date.now() + seconds * 1000
  /** Sends every so many'th case, one after another. */
  const run = (lanes: number, sendOne: (number: number) => Promise<void>) =>
    Array.from({ length: lanes }, async (_, lane) => {
      for (let number = lane + 1; Date.now() < overAt; number += lanes) await sendOne(number)
    })
  if (only === undefined)
    await Promise.all([...run(LANES, requests.sendOne), ...run(FILE_LANES, sendFile)])
  else await requests.sendOne(Number(only))
  await requests.repeatLate()
  const { counts, slowest, peak } = tally
  for (const [what, times] of [...counts].toSorted(([one], [other]) => one.localeCompare(other)))
    say(`  ${String(times).padStart(7)} ${what}`)
  say(`  the slowest response after ${slowest} ms, a child had up to ${Math.round(peak)} MiB`)
  return tally.issues + (peak > MAX_MEMORY ? 1 : 0)
}

type Tally = ReturnType<typeof makeTally>

/** Makes the tally of what came of all that was sent. What was wrong is kept in a folder. */
const makeTally = (seed: number, say: Say) => {
  const folder = join(ROOT, '.built/faults', `fuzz-${seed}-${Date.now()}`)
  const tally = {
    counts: new Map<string, number>(),
    issues: 0,
    /** In milliseconds, of the responses that were in time. */
    slowest: 0,
    /** The most memory of a child, in MiB. */
    peak: 0,
    async keep(name: string, what: string, bytes: Buffer): Promise<void> {
      await mkdir(folder, { recursive: true })
      await writeFile(join(folder, name), bytes)
      tally.issues += 1
      if (tally.issues <= 50) say(`  ${name}: ${what}, kept in ${folder}`)
    },
    /** A case by its number, the same for the same seed. */
    draw: <T>(from: fc.Arbitrary<T>, number: number): T =>
      fc.sample(from, { seed: seed * 10_000_000 + number, numRuns: 1 })[0] as T,
  }
  return tally
}

const makeRequestLane = async (service: Service, hook: string, tally: Tally) => {
  const things = await makeThings(service, hook)
  const requests = makeRequests(await readDocument(), things)
  const send = makeSender(service.baseUrl)
  const validate = await makeValidate(tally.counts)
  const late = new Map<number, Wire>()
  const keep = async (number: number, what: string, wire: Wire): Promise<void> =>
    await tally.keep(`${number}.http`, `${what}: ${firstLine(wire)}`, wire.bytes)
  return {
    async sendOne(number: number): Promise<void> {
      const wire = tally.draw(requests, number)
      const response = await send(wire)
      const issue = validate(wire, response)
      if (issue !== undefined) await keep(number, issue, wire)
      if (response && response.status < 300) learn(things, wire.template, readJson(response))
      if (response && response.ms > LONGEST_MS) late.set(number, wire)
      else tally.slowest = Math.max(tally.slowest, response?.ms ?? 0)
    },
    async repeatLate(): Promise<void> {
      for (const [number, wire] of late) {
        const { ms = PATIENCE_MS } = (await send(wire)) ?? {}
        if (ms > LONGEST_MS) await keep(number, `${ms} ms`, wire)
      }
    },
  }
}

const makeFileLane = async (service: Service, tally: Tally) => {
  const client = makeClient(service.baseUrl, await service.token('files'))
  const files = await makeFiles(await renderVideo(client))
  const publish = await makePublisher(client)
  return async (number: number): Promise<void> => {
    const file = tally.draw(files, number)
    const sent = file.route === '' ? publish(file, `fuzz-${number}`) : render(client, file)
    await sent.then(
      (end) => count(tally.counts, `${file.kind}: ${end}`),
      (error: unknown) => tally.keep(`${number}.${file.kind}`, String(error), file.bytes),
    )
    const children = await listEngineProcesses(service.storagePath)
    tally.peak = Math.max(tally.peak, ...(await Promise.all(children.map(readPeak))))
  }
}

/** A right video, of the service itself. */
const renderVideo = async (client: Client): Promise<Buffer> => {
  const { body } = await client.create(`${VIDEO_API}/text2video`, { prompt: 'ocean' })
  const { creations } = await client.untilVideoEnded(String(body['task_id']))
  return Buffer.from(await (await fetch(String(creations[0]?.url))).arrayBuffer())
}

/** Finds what has not ended in time, files that nobody removes, processes that have ended, and errors in logs. */
const findLeft = async (service: Service): Promise<string[]> => {
  const left = (await waitUntilSettled(service)).map(({ what }) => what)
  await untilCleaned(service).catch((error: unknown) => left.push(String(error)))
  for (const role of ['api', 'core', 'media'] as const) {
    const { log, how } = service.entry(role)
    const end = how()
    if (end !== undefined) left.push(`${role} has ended: ${end}`)
    const errors = log.filter((line) => /"level":[56]0|"warning":/.test(line))
    left.push(...errors.map((line) => `${role} says ${line}`))
  }
  return left
}
