import { spread } from './figures.ts'

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

/** How often a second that is. */
export const rateOf = async (
  times: number,
  inFlight: number,
  work: () => Promise<unknown>,
): Promise<number> => {
  const start = performance.now()
  await inLanes(times, inFlight, work)
  return (times / (performance.now() - start)) * 1000
}

/** Milliseconds that one takes, one after another, in the middle. */
export const latencyOf = async (times: number, work: () => Promise<unknown>): Promise<number> => {
  const each: number[] = []
  await inLanes(times, 1, async () => {
    const start = performance.now()
    await work()
    each.push(performance.now() - start)
  })
  return spread(each).median
}
