import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { isDeepStrictEqual } from 'node:util'

import type { CreateOptions, Kiln, Task } from '../index.ts'
import { isPassing } from '../lib/errors.ts'
import { within } from '../lib/pause.ts'
import type { WaitOptions } from '../lib/tasks.ts'

/** Task that a call asks for, and the key that the caller gave; a template is a kind, too. */
type Asked = { kind: string; body: object; key: string | undefined }
export type Create = (kiln: Kiln, body: object, options: CreateOptions) => Promise<Task>

/** Task that calls have asked for. */
interface Making {
  asked: Asked
  key: string
  /** Absent after an error that passes: the key finds out what became of the request. */
  task?: Promise<Task>
  id?: string
}

type Seen = Parameters<NonNullable<WaitOptions['onProgress']>>[0]
type Waiting = { isWaiting: boolean; signal: AbortSignal }

/** Keeps each task until a call has returned its end: a model whose call was given up calls again, which must not make another one. */
export const keepMakings = (kiln: Kiln, waitMs: number) => {
  const makings = new Set<Making>()

  /** Makes a task, or finds that of the same call before, and waits. The task is absent while its request is being sent. */
  const make = async (
    asked: Asked,
    create: Create,
    { isWaiting, signal, onProgress }: Required<Pick<WaitOptions, 'onProgress'>> & Waiting,
  ): Promise<{ task?: Task; isRepeated: boolean }> => {
    const known = [...makings].find((making) => isDeepStrictEqual(making.asked, asked))
    const making: Making = known ?? { asked, key: asked.key ?? randomUUID() }
    const creation = (making.task ??= create(kiln, asked.body, { idempotencyKey: making.key }))
    // Every call may be over by then.
    void creation.then(
      ({ id }) => (making.id = id),
      () => {},
    )
    makings.add(making)
    const follow = async (inner: AbortSignal): Promise<Task | undefined> => {
      const stopped = once(inner, 'abort').then(() => undefined)
      const task = await Promise.race([creation, stopped])
      if (!task) return task
      if (!isWaiting) {
        const read = await kiln.read(task, { signal: inner }).catch(() => task)
        return { ...read, replayed: task.replayed }
      }
      let seen: Partial<Seen> = {}
      const report = (now: Seen): void => onProgress((seen = now))
      const waiting = kiln.wait(task, { signal: inner, onProgress: report })
      const ended = await waiting.catch((error: unknown) => {
        if (inner.aborted) return undefined
        throw error
      })
      // What it waits for counts, and not how it was made.
      if (!ended) return { ...task, ...seen }
      makings.delete(making)
      return { ...ended, replayed: task.replayed }
    }
    try {
      const task = await within(waitMs, signal, follow)
      return { ...(task && { task }), isRepeated: known !== undefined }
    } catch (error) {
      if (isPassing(error)) delete making.task
      else makings.delete(making)
      throw error
    } finally {
      if (isCancelled(signal))
        // A video that is being rendered goes on, and stays the task of the call.
        void creation.then(kiln.cancel).then(
          () => makings.delete(making),
          () => {},
        )
    }
  }

  return {
    make,
    /** Reads a task. Once its end was read, the same call makes another one. */
    read: async (id: string, signal: AbortSignal): Promise<Task> => {
      const task = await kiln.read(id, { signal })
      for (const making of makings)
        if (making.id === task.id && task.state !== 'running') makings.delete(making)
      return task
    },
  }
}

/** A client that goes away leaves its tasks. */
const isCancelled = ({ aborted, reason }: AbortSignal): boolean =>
  aborted && (reason as { code?: string } | undefined)?.code !== 'CONNECTION_CLOSED'
