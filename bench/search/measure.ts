import { setTimeout as sleep } from 'node:timers/promises'

import { spread } from '../support/figures.ts'
import type { Shape } from './shapes.ts'
import { POOL } from './sides.ts'
import type { Lane, Side } from './sides.ts'

export const CONCURRENCIES = [1, 16, 64] as const

/** What one round of one side has come to; times in milliseconds. */
export interface Round {
  p50: number
  p99: number
  /** Requests a second. */
  rate: number
  /** Share of the requests that the service had no time for: after 1.8 s it answers 503. Their times count as well. */
  refused: number
}

export interface Measured {
  shape: Shape
  concurrency: number
  http: Round[]
  bare: Round[]
}

/** Of a round: so many requests at least, unless they take longer than the most. */
const LEAST = 120
const MOST_MS = 2_500

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
  { http, bare }: { http: Side; bare: Side },
  { rounds, leastMs }: Rounds = SHORT,
): Promise<Measured> => {
  const measured: Measured = { shape, concurrency, http: [], bare: [] }
  // The api closes a connection that sends nothing for ten seconds: those to it are opened last.
  const lanes = {
    bare: await openWarm(bare, shape, concurrency),
    http: await openWarm(http, shape, concurrency),
  }
  for (let round = 0; round < rounds; round += 1)
    for (const side of ['bare', 'http'] as const)
      measured[side].push(await measureRound(shape, lanes[side], leastMs))
  for (const lane of [...lanes.bare, ...lanes.http]) lane.close()
  return measured
}

/**
 * Lanes of a side whose counts are in memory and whose connections have every statement prepared and planned: PostgreSQL
 * plans the first five times anew, and the pool takes its connections in turn.
 */
const openWarm = async (side: Side, shape: Shape, concurrency: number): Promise<Lane[]> => {
  const lanes = await Promise.all(Array.from({ length: concurrency }, () => side.openLane(shape)))
  const calls = Math.max(2 * shape.requests.length, 6 * POOL)
  let next = 0
  const warm = async (lane: Lane): Promise<void> => {
    while (next < calls) {
      await shape.before?.()
      await lane.call(next++)
    }
  }
  await Promise.all(lanes.map(warm))
  return lanes
}

const measureRound = async (
  shape: Shape,
  lanes: readonly Lane[],
  leastMs: number,
): Promise<Round> => {
  const times: number[] = []
  const start = performance.now()
  const isOver = (): boolean => {
    const elapsed = performance.now() - start
    return elapsed > MOST_MS || (elapsed > leastMs && times.length >= LEAST)
  }
  let next = 0
  let refused = 0
  const work = async (lane: Lane): Promise<void> => {
    while (!isOver()) {
      await shape.before?.()
      const began = performance.now()
      if (!(await lane.call(next++))) refused += 1
      times.push(performance.now() - began)
    }
  }
  await Promise.all(lanes.map(work))
  const seconds = (performance.now() - start) / 1000
  // What is still being cleaned up is not the other side's.
  await sleep(5)
  times.sort((a, b) => a - b)
  const at = (share: number): number => times[Math.floor((times.length - 1) * share)] ?? Number.NaN
  return {
    p50: at(0.5),
    p99: at(0.99),
    rate: times.length / seconds,
    refused: refused / times.length,
  }
}

/** The middle of the rounds. */
export const middle = (rounds: readonly Round[], figure: keyof Round): number =>
  spread(rounds.map((round) => round[figure])).median

/** HTTP against bare. */
export const ratio = ({ http, bare }: Measured, figure: 'p50' | 'p99'): number =>
  middle(http, figure) / middle(bare, figure)
