import { median } from './results.ts'

/** Does some work so many times, so many at once. */
export const inLanes = async (
  times: number,
  inFlight: number,
  work: (index: number, lane: number) => Promise<unknown>,
): Promise<void> => {
  let next = 0
  const run = async (lane: number): Promise<void> => {
    while (next < times) await work(next++, lane)
  }
  await Promise.all(Array.from({ length: inFlight }, (_, lane) => run(lane)))
}

/** Runs a second. */
export const rateOf = async (
  times: number,
  inFlight: number,
  work: () => Promise<unknown>,
): Promise<number> => {
  const ms = await timeOf(() => inLanes(times, inFlight, work))
  return (times / ms) * 1000
}

/** Milliseconds that each one takes, the shortest first. */
export const timesOf = async (
  times: number,
  inFlight: number,
  work: (index: number, lane: number) => Promise<unknown>,
): Promise<number[]> => {
  const each: number[] = []
  await inLanes(times, inFlight, async (index, lane) =>
    each.push(await timeOf(() => work(index, lane))),
  )
  return each.toSorted((a, b) => a - b)
}

/** Milliseconds that one takes, one after another, in the middle. */
export const latencyOf = async (times: number, work: () => Promise<unknown>): Promise<number> =>
  median(await timesOf(times, 1, work))

/** Milliseconds that it takes. */
export const timeOf = async (work: () => unknown): Promise<number> => {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/**
 * Measures several ways of doing the same in turn and round after round, so that what else the machine does
 * weighs on all of them. Rounds count from 1; those before warm up and are dropped.
 */
export const inTurns = async <Way extends string, Value>(
  rounds: number,
  ways: Record<Way, (round: number) => Promise<Value>>,
  warmRounds = 0,
): Promise<Record<Way, Value[]>> => {
  const names = Object.keys(ways) as Way[]
  const measured = {} as Record<Way, Value[]>
  for (const name of names) measured[name] = []
  for (let round = 1 - warmRounds; round <= rounds; round += 1)
    for (const name of names) {
      const value = await ways[name](round)
      if (round > 0) measured[name].push(value)
    }
  return measured
}
