import { listAllowedAddresses } from './connector.ts'
import { startDeadline } from './deadline.ts'
import { OutboundError } from './error.ts'
import { POST_LIMITS, type PostGuard } from './post.ts'
import { hostOf } from './url.ts'

export interface LocateOptions {
  url: string
  timeoutMs?: number | undefined
  /** Ends the look-up, which then rejects with the signal's reason. */
  signal?: AbortSignal | undefined
}

/** Addresses of the host of a URL, for a post that follows. */
export interface Located {
  /** All were checked. None where there is an error. */
  addresses: readonly string[]
  /** Why the post reaches nobody. */
  error?: OutboundError
  /** Milliseconds of the look-up, which count for the time of the post. */
  tookMs: number
}

/** Looks a host up without dialling it. */
export const locate = async (
  guard: Omit<PostGuard, 'pool'>,
  { url, signal, timeoutMs = POST_LIMITS.connectMs }: LocateOptions,
): Promise<Located> => {
  const began = performance.now()
  const signals = signal === undefined ? [guard.closing] : [guard.closing, signal]
  const deadline = startDeadline({ timeoutMs, signals, what: 'address of the host name' })
  const end = (found: Omit<Located, 'tookMs'>): Located => ({
    ...found,
    tookMs: performance.now() - began,
  })
  try {
    deadline.signal.throwIfAborted()
    const validated = guard.validateUrl(url)
    if (validated.url === undefined) throw new OutboundError('address_refused')
    const { signal } = deadline
    return end({
      addresses: await listAllowedAddresses(hostOf(validated.url), { ...guard, signal }),
    })
  } catch (error) {
    if (error instanceof OutboundError) return end({ addresses: [], error: error })
    throw error
  } finally {
    deadline.stop()
  }
}
