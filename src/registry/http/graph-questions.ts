import { makeThreadPool } from '../../platform/adapters/thread-pool.ts'
import { apiError, errors } from '../../platform/domain/errors.ts'
import { makeSemaphore } from '../../platform/domain/semaphore.ts'
import type { JsonResponse } from '../../platform/http/route.ts'
import type { ListDeps } from './deps.ts'
import { makeGraphReads, type GraphReads } from './graph-reads.ts'
import type { GraphMessage, GraphQuestion, ReadReply } from './graph-thread.ts'

/** Limits of one question: the largest body that the routes take needs about a second and some 100 MB. */
const LIMITS = { runMs: 10_000, heapMegabytes: 160 }

/** Threads at once. */
const THREADS = 2

export type AskGraph = (question: GraphQuestion) => Promise<JsonResponse>

/**
 * Makes the function that runs questions about workflows in threads with a limit of memory and time: what a workflow does to its
 * reader costs a thread, and no other request. Throws 400 for what is no workflow, 413 for one that passes a limit.
 */
export const makeAskGraph = (deps: ListDeps, { runMs, heapMegabytes } = LIMITS): AskGraph => {
  const reads = makeGraphReads(deps)
  const threads = makeThreadPool<GraphQuestion, GraphMessage>(
    new URL('./graph-thread.js', import.meta.url),
    { maxOldGenerationSizeMb: heapMegabytes },
  )
  const semaphore = makeSemaphore(THREADS)
  const ask = async (question: GraphQuestion): Promise<JsonResponse> => {
    const failed = new AbortController()
    const tooLate = AbortSignal.timeout(runMs)
    try {
      const text = await threads.run<string>({
        order: question,
        signal: AbortSignal.any([failed.signal, tooLate]),
        onMessage: (message, reply) => {
          if (message.type === 'response') return { result: message.text }
          if (message.type === 'rejection')
            return { error: errors.validationFailed(message.details) }
          if (message.type === 'failure') return { error: new Error(message.cause), isSpent: true }
          readFor(reads, message).then(reply, (error: unknown) => failed.abort(error))
          return undefined
        },
      })
      return { status: 200, text }
    } catch (error) {
      if (!tooLate.aborted && !isOutOfMemory(error)) throw error
      const message = `/workflow takes more than ${runMs / 1000} s or ${heapMegabytes} MB to read: send a part of it.`
      throw apiError('body_too_large', message, { details: [message], cause: error })
    }
  }
  return (question) => semaphore.run(() => ask(question))
}

const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'

const readFor = async (
  reads: GraphReads,
  { id, name, given }: GraphMessage & { type: 'read' },
): Promise<ReadReply> => {
  const read = reads[name] as (...given: unknown[]) => Promise<unknown>
  return { id, found: await read(...given) }
}
