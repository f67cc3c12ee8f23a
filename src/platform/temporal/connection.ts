import { Connection, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client'
import type { ConnectionOptions } from '@temporalio/client'

import { GRPC } from './grpc-error.ts'
import type { TemporalOptions } from '../settings/temporal.ts'
import { adviseSilence } from './temporal-advice.ts'

/**
 * Makes a connection to Temporal that opens with its first call. gRPC would obey grpc_proxy, https_proxy and http_proxy of
 * the environment, which have no effect elsewhere.
 */
export const openTemporal = (
  { namespace: _namespace, ...target }: TemporalOptions,
  { channelArgs, ...options }: ConnectionOptions = {},
): Connection =>
  Connection.lazy({
    ...(target as ConnectionOptions),
    ...options,
    channelArgs: { ...channelArgs, 'grpc.enable_http_proxy': 0 },
  })

/**
 * Makes the api's connection to Temporal, lazily: an api starts and creates tasks while Temporal is down. Every call has
 * one deadline, whatever `withDeadline` says.
 */
export const connectTemporal = (target: TemporalOptions): Connection => {
  const connection = openTemporal(target, {
    // The client's own pause between attempts grows to two minutes: it would go on so long after an outage.
    channelArgs: {
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 1000,
    },
    interceptors: [
      nameServer(target),
      withinDeadline,
      makeGrpcRetryInterceptor({ ...RETRY, retryableDecider }),
    ],
  })
  keepContextWhileCalling(connection)
  return connection
}

const RETRY = defaultGrpcRetryOptions()

/** The outbox repeats what a limit of the namespace rejects. Attempts at once would use it up, and hide the reason. */
const retryableDecider: typeof RETRY.retryableDecider = (attempt, status) =>
  (status.code as number) !== GRPC.RESOURCE_EXHAUSTED && RETRY.retryableDecider(attempt, status)

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number]

/** Longest call, attempts of its own included. */
const CALL_DEADLINE_MS = 2000

const withinDeadline: Interceptor = (options, nextCall) =>
  nextCall({ ...options, deadline: Date.now() + CALL_DEADLINE_MS }) as ReturnType<Interceptor>

/** Makes what says of a call without a response who has not responded: gRPC alone says how long it waited, as "0.000s". */
const nameServer =
  (target: TemporalOptions): Interceptor =>
  (options, nextCall) => {
    const call = nextCall(options)
    const start = call.start.bind(call)
    call.start = (metadata, listener = {}) =>
      start(metadata, {
        onReceiveMetadata: (received) => listener.onReceiveMetadata?.(received),
        onReceiveMessage: (message) => listener.onReceiveMessage?.(message),
        onReceiveStatus(status) {
          const advice = adviseSilence(target, status.code)
          const details = advice === undefined ? status.details : `${advice} (${status.details})`
          listener.onReceiveStatus?.({ ...status, details })
        },
      })
    return call as ReturnType<Interceptor>
  }

/**
 * Has the client (1.24) keep the headers of a call in a variable while it makes the call. It would keep them in an
 * AsyncLocalStorage, and from its first use on Node 20 runs hooks for every promise of the process.
 */
const keepContextWhileCalling = ({ callContextStorage: storage }: Connection): void => {
  let current: ReturnType<typeof storage.getStore>
  storage.getStore = () => current
  storage.run = <Result>(context: typeof current, call: () => Result): Result => {
    const outer = current
    current = context
    try {
      return call()
    } finally {
      current = outer
    }
  }
}
