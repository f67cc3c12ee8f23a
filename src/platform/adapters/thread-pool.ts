import { once } from 'node:events'
import { Worker, type ResourceLimits } from 'node:worker_threads'

/** Threads of one program. Each does one order at a time. */
export interface ThreadPool<Order, Message> {
  run<Result>(run: ThreadRun<Order, Message, Result>): Promise<Result>
  /** Ends all threads. */
  close(): Promise<void>
}

export interface ThreadRun<Order, Message, Result> {
  order: Order
  /** Ends the thread under its order; `run` then rejects with the reason. */
  signal: AbortSignal
  /** Handles a message of the thread: the order ends with the end that it returns. */
  onMessage(message: Message, reply: (value: unknown) => void): ThreadEnd<Result> | undefined
}

/** End of an order: its result, or the error that `run` rejects with. */
export type ThreadEnd<Result> = ({ result: Result } | { error: Error }) & {
  /** The thread is ended, because it holds what the order has left behind. */
  isSpent?: boolean
}

/**
 * Makes a pool of threads that run a program. Threads are kept for the next order; one that fails, dies or is aborted
 * under its order goes with it, and with its memory. An idle thread does not keep the process alive.
 *
 * @param limits of the heap of each thread: one that passes them ends with ERR_WORKER_OUT_OF_MEMORY
 */
export const makeThreadPool = <Order, Message>(
  program: URL,
  limits: ResourceLimits = {},
): ThreadPool<Order, Message> => {
  const alive = new Set<Worker>()
  const idle = new Set<Worker>()
  const add = (): Worker => {
    const thread = new Worker(program, { execArgv: [], resourceLimits: limits })
    alive.add(thread)
    thread.once('exit', () => {
      alive.delete(thread)
      idle.delete(thread)
    })
    return thread
  }
  const take = (): Worker => {
    const [thread = add()] = idle
    idle.delete(thread)
    thread.ref()
    return thread
  }
  return {
    run: async (run) => {
      run.signal.throwIfAborted()
      const thread = take()
      const ended = new AbortController()
      try {
        const end = await Promise.race([
          follow(thread, run, ended.signal),
          rejectOnAbort(run.signal, ended.signal),
        ])
        if (end.isSpent) void thread.terminate()
        else {
          thread.unref()
          idle.add(thread)
        }
        if ('error' in end) throw end.error
        return end.result
      } catch (error) {
        if (!idle.has(thread)) void thread.terminate()
        throw error
      } finally {
        ended.abort()
      }
    },
    close: async () => {
      await Promise.all([...alive].map((thread) => thread.terminate()))
    },
  }
}

const rejectOnAbort = async (signal: AbortSignal, ended: AbortSignal): Promise<never> => {
  await once(signal, 'abort', { signal: ended })
  throw signal.reason
}

/** Sends an order and follows its messages; rejects when the thread fails or dies under it. */
const follow = <Order, Message, Result>(
  thread: Worker,
  { order, onMessage }: ThreadRun<Order, Message, Result>,
  ended: AbortSignal,
): Promise<ThreadEnd<Result>> =>
  new Promise((resolve, reject) => {
    const receive = (message: Message) => {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is not a window
      const end = onMessage(message, (value) => thread.postMessage(value))
      if (end) resolve(end)
    }
    const exit = (code: number) => reject(new Error(`the thread ended with code ${code}`))
    thread.on('message', receive).on('error', reject).on('exit', exit)
    ended.addEventListener('abort', () => {
      thread.off('message', receive).off('error', reject).off('exit', exit)
    })
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is not a window
    thread.postMessage(order)
  })
