import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { claimFile, findSelf, readState } from './claim.ts'
import { isRunning, type ProcessId } from './process-table.ts'
import type { MakeOptions } from './temporal-version.ts'
import type { Say } from './console.ts'

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

interface ProgressLine {
  /** May be called as often as there is something to show. */
  show(text: string): void
  /** Leaves nothing of it on the terminal. */
  end(): void
}

const LINE_EVERY_MS = 30_000

/** On a terminal one line that is written again in its place; elsewhere a line each half minute. */
export const makeProgressLine = (
  say: Say,
  out: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stdout,
): ProgressLine => {
  if (out.isTTY)
    return {
      // The cursor stays at its begin, so that what others write takes its place.
      show: (text) => void out.write(`\u001B[2K${text}\r`),
      end: () => void out.write('\u001B[2K'),
    }
  let saidAt = Date.now()
  return {
    show: (text) => {
      if (Date.now() - saidAt < LINE_EVERY_MS) return
      saidAt = Date.now()
      say(text)
    },
    end: () => {},
  }
}
