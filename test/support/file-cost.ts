import { writeFileSync } from 'node:fs'
import { before } from 'node:test'

import { cpuSeconds } from '../../src/local/cpu-seconds.ts'

/** Seconds of processor of each test file. */
export type FileCosts = Record<string, number>

/**
 * Keeps what each file of a process costs, and writes it to `path` when the process ends. A file is closed by the next
 * one: its services are stopped by hooks that run after any of ours.
 */
export const keepCosts = (path: string): ((file: string) => void) => {
  const costs: FileCosts = {}
  let [current, since] = ['', 0]
  const close = (): void => {
    const now = cpuSeconds()
    if (current !== '') costs[current] = now - since
    since = now
  }
  process.on('exit', () => {
    close()
    writeFileSync(path, JSON.stringify(costs))
  })
  return (file) =>
    before(() => {
      // What the process took before its first file is of that file.
      if (current !== '') close()
      current = file
    })
}
