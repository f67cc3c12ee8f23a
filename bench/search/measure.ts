import { setTimeout as sleep } from 'node:timers/promises'

import { at, median } from '../support/results.ts'
import { inTurns, timeOf } from '../support/lanes.ts'
import { openLane } from './http-client.ts'
import type { Lane } from './http-client.ts'
import type { Shape } from './shapes.ts'

/** Connections to PostgreSQL of each side: what the api takes unless DATABASE_POOL says otherwise. */
export const POOL = 10

/** The address of the service and that of the bare Express. */
export type Sides = Record<'http' | 'bare', string>

export const CONCURRENCIES = [1, 16, 64] as const

/** Result of one round of one side; times in milliseconds. */
export interface Round {
  p50: number
  p99: number
  /** Requests a second. */
  rate: number
  /** Share of the requests that the service had no time for: after 1.8 s it responds with 503. Their times count as well. */
  rejected: number
}

export interface Measured {
  shape: Shape
  concurrency: number
  http: Round[]
  bare: Round[]
}

/** Least requests of a round, unless they take longer than `MAX_MS`. */
const LEAST = 120
const MAX_MS = 2_500

export interface Rounds {
  rounds: number
  /** The least time of a round. */
  leastMs: number
}

const SHORT: Rounds = { rounds: 3, leastMs: 250 }

/** Measures a shape with so many requests at once: both sides in turn, several rounds of each. */
export const measureShape = async (
  shape: Shape,
  concurrency: number,
  { http, bare }: Sides,
  { rounds, leastMs }: Rounds = SHORT,
): Promise<Measured> => {
  // The api closes a connection that sends nothing for ten seconds: those to it are opened last.
  const lanes = {
    bare: await openWarm(bare, shape, concurrency),
    http: await openWarm(http, shape, concurrency),
  }
  const measured = await inTurns(rounds, {
    bare: () => measureRound(shape, lanes.bare, leastMs),
    http: () => measureRound(shape, lanes.http, leastMs),
  })
  for (const lane of [...lanes.bare, ...lanes.http]) lane.close()
  return { shape, concurrency, ...measured }
}

/**
 * Lanes of a side whose counts are in memory and whose connections have every statement prepared and planned: PostgreSQL
 * plans the first five times again, and the pool takes its connections in turn.
 */
const openWarm = async (baseUrl: string, shape: Shape, concurrency: number): Promise<Lane[]> => {
  const opening = Array.from({ length: concurrency }, () => openLane(baseUrl, shape))
  const lanes = await Promise.all(opening)
  const calls = Math.max(2 * shape.requests.length, 6 * POOL)
  await sendUntil((sent) => sent >= calls, shape, lanes)
  return lanes
}

const measureRound = async (shape: Shape, lanes: readonly Lane[], leastMs: number) => {
  const start = performance.now()
  const isOver = (sent: number): boolean => {
    const elapsed = performance.now() - start
    return elapsed > MAX_MS || (elapsed > leastMs && sent >= LEAST)
  }
  const { times, rejected } = await sendUntil(isOver, shape, lanes)
  const seconds = (performance.now() - start) / 1000
  // What is still being cleaned up is not the other side's.
  await sleep(5)
  const sorted = times.toSorted((a, b) => a - b)
  return {
    p50: at(sorted, 0.5),
    p99: at(sorted, 0.99),
    rate: times.length / seconds,
    rejected: rejected / times.length,
  }
}

/** Lets each lane send its next request when it has the response to the last; returns milliseconds of each. */
const sendUntil = async (
  isOver: (sent: number) => boolean,
  { before }: Pick<Shape, 'before'>,
  lanes: readonly Lane[],
): Promise<{ times: number[]; rejected: number }> => {
  const times: number[] = []
  let next = 0
  let rejected = 0
  const send = async (lane: Lane): Promise<void> => {
    while (!isOver(next)) {
      await before?.()
      const time = await timeOf(async () => {
        if (!(await lane.call(next++))) rejected += 1
      })
      times.push(time)
    }
  }
  await Promise.all(lanes.map(send))
  return { times, rejected }
}

/** The middle of the rounds. */
export const middle = (rounds: readonly Round[], result: keyof Round): number =>
  median(rounds.map((round) => round[result]))

/** HTTP against bare. */
export const ratio = ({ http, bare }: Measured, result: 'p50' | 'p99' | 'rate'): number =>
  middle(http, result) / middle(bare, result)
