import { setTimeout as sleep } from 'node:timers/promises'

import { pick } from '../faults/random.ts'
import type { FakeComfy } from '../support/comfyui/fake.ts'
import type { PromptFault } from '../support/comfyui/worker.ts'
import type { Entry } from '../support/entry.ts'
import type { Service } from '../support/service.ts'

/** An instance of the fleet, which its supervisor starts again when a worker has taken it out. */
export interface Member {
  name: string
  fake: FakeComfy
}

interface Victims {
  service: Service
  members: readonly Member[]
  random: () => number
  signal: AbortSignal
}

/** Core workers at once. */
const WORKERS = 2

/** Faults of a prompt by their weights: memory fails one prompt in some forty, as where most models fit. */
const PROMPTS: Partial<Record<PromptFault, number>> = {
  interrupted: 3,
  forgotten: 3,
  'output-gone': 3,
  'output-truncated': 1,
  'no-output': 1,
  stall: 2,
  zombie: 2,
  cuda: 2,
  device: 1,
  oom: 2,
}
const DRAWN = Object.entries(PROMPTS).flatMap(([fault, weight]) =>
  Array.from({ length: weight }, () => fault as PromptFault),
)

/** Disturbs a fleet and its workers until the signal, by a seed; counts what was done. */
export const disturb = async ({ service, members, random, signal }: Victims) => {
  const counts: Record<string, number> = {}
  const count = (what: string): void => void (counts[what] = (counts[what] ?? 0) + 1)
  const workers = await Promise.all(
    Array.from({ length: WORKERS }, async () => await service.start('core')),
  )
  const pause = async (leastMs: number, maxMs: number): Promise<void> =>
    await sleep(leastMs + random() * (maxMs - leastMs), undefined, { signal }).catch(() => {})

  /** Strikes and supervisor do not meet at one instance. */
  const struck = new Set<Member>()
  const alone = async (member: Member, work: () => Promise<void>): Promise<void> => {
    if (struck.has(member)) return
    struck.add(member)
    await work()
    struck.delete(member)
  }

  const killWorkers = async (): Promise<void> => {
    for (;;) {
      await pause(8000, 20_000)
      if (signal.aborted) return
      const index = Math.floor(random() * WORKERS)
      await (workers[index] as Entry).kill()
      count('worker killed')
      await pause(0, 3000)
      workers[index] = await service.start('core')
    }
  }

  const strike = async ({ fake }: Member): Promise<void> => {
    const kind = random()
    if (kind < 0.35) {
      count('instance killed')
      await fake.kill()
      // Some are away for longer than COMFYUI_LOST_SECONDS.
      await pause(300, random() < 0.2 ? 12_000 : 3000)
      await fake.start()
    } else if (kind < 0.5) {
      count('instance frozen')
      fake.freeze()
      await pause(300, random() < 0.2 ? 12_000 : 3000)
      fake.thaw()
    } else if (kind < 0.6) {
      count('sockets silent')
      fake.silent = true
      await pause(3000, 15_000)
      fake.silent = false
    } else if (kind < 0.65) {
      count('sockets forgotten')
      fake.deafen()
    } else {
      const fault = pick(random, DRAWN)
      count(fault)
      fake.faults.push(fault)
    }
  }

  const strikeInstances = async (): Promise<void> => {
    for (;;) {
      await pause(1500, 4500)
      if (signal.aborted) return
      const member = pick(random, members)
      await alone(member, () => strike(member))
    }
  }

  /** As an operator's supervisor does who follows the log: what was taken out is started again some time later. */
  const supervise = async (): Promise<void> => {
    while (!signal.aborted) {
      await pause(2000, 6000)
      const held = await service.database.sql<{ name: string }[]>`
        select name from instance where quarantined_at is not null
      `
      for (const member of members.filter(({ name }) => held.some((row) => row.name === name)))
        await alone(member, async () => {
          count('restarted by its supervisor')
          await member.fake.restart(500)
        })
    }
  }

  const loops = [killWorkers(), strikeInstances(), supervise()]
  return { counts, ended: Promise.all(loops), workers }
}
