import { pbkdf2 } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'

/** Milliseconds that the work below takes on the machine on which the durations of tests were chosen. */
const REFERENCE_MS = 250
const ROUNDS = 500_000

/** Measures how many times slower this machine is, with all else that it has to do, by a fixed piece of work for each core. */
export const measureSlowness = async (): Promise<number> => {
  const start = performance.now()
  await Promise.all(
    Array.from({ length: availableParallelism() }, () =>
      promisify(pbkdf2)('password', 'salt', ROUNDS, 32, 'sha256'),
    ),
  )
  return Math.max(1, (performance.now() - start) / REFERENCE_MS)
}
