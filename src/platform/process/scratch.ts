import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { touchFolder } from '../storage/scratch.ts'
import type { Storage } from '../storage/storage.ts'
import type { Log } from '../log.ts'
import { startLoop } from './loop.ts'

const TOUCH_MS = 5000
/** After four missed touches the owner counts as dead. */
const DEAD_MS = 20_000

export interface Scratch {
  /** Folder of this process alone. */
  dir: string
  /** Removes the folder. */
  stop(): Promise<void>
}

interface ScratchOptions {
  storage: Storage
  log: Log
  /** Runs before a clean-up, which removes the folders of killed processes. */
  beforeCleanUp?(): Promise<void>
}

/**
 * Makes this process's folder for unfinished files and touches it regularly. A folder that nobody touches belonged to a
 * killed process, and is removed. The age of a single file says less: a body may finish one image long before the next.
 */
export const startScratch = async (
  purpose: string,
  { storage, log, beforeCleanUp }: ScratchOptions,
): Promise<Scratch> => {
  const dir = await mkdtemp(join(await storage.scratchDir(purpose), 'process-'))
  let touched = await touchFolder(dir)
  const loop = startLoop(
    'scratch',
    async () => {
      // A process that was suspended for long finds its folder gone.
      await mkdir(dir, { recursive: true })
      const now = await touchFolder(dir)
      const wasSuspended = now - touched > DEAD_MS / 2
      touched = now
      // After the whole machine was suspended every folder looks abandoned, so the others first get a turn to touch theirs.
      if (wasSuspended) return
      await beforeCleanUp?.()
      const removed = await storage.cleanUpTemporary(DEAD_MS, purpose)
      if (removed > 0)
        log.info({ removed, purpose }, 'unfinished files of a killed process removed')
    },
    { intervalMs: TOUCH_MS, log },
  )
  return {
    dir,
    async stop() {
      await loop.stop()
      await rm(dir, { recursive: true, force: true })
    },
  }
}
