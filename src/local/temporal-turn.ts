import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { claimFile, findSelf, readState } from './claim.ts'
import { isRunning, type ProcessId } from './process-table.ts'
import { makeProgressLine } from './progress-line.ts'
import type { MakeOptions } from './temporal-version.ts'

/** The process that makes a `temporal`, and its progress. */
interface Turn {
  maker: ProcessId
  text: string
}

const POLL_MS = 500

/** Runs `make` while no other process of this user does, and shows meanwhile how far that one is. */
export const makeInTurn = async <T>(
  folder: string,
  { say, signal }: Omit<MakeOptions, 'show'>,
  make: (options: MakeOptions) => Promise<T>,
): Promise<T> => {
  await mkdir(folder, { recursive: true })
  const path = join(folder, 'claim.json')
  const maker = findSelf()
  const line = makeProgressLine(say)
  const claim = await claimFile<Turn>(path, { maker, text: '' }, async (first) => {
    if (isRunning(first.maker))
      say(`waiting for process ${first.maker.pid}, which makes temporal for all`)
    for (let turn: Turn | undefined = first; turn && isRunning(turn.maker);) {
      line.show(turn.text)
      await sleep(POLL_MS, undefined, { signal })
      turn = await readState<Turn>(path)
    }
  })
  const show = (text: string): void => {
    line.show(text)
    void claim.record({ maker, text }).catch(() => {})
  }
  try {
    return await make({ say, show, signal })
  } finally {
    line.end()
    await claim.release()
  }
}
