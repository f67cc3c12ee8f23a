import type { ClientInterceptors } from '@temporalio/client'
import { defaultPayloadConverter } from '@temporalio/common'
import type { Headers } from '@temporalio/common'
import type { WorkerInterceptors } from '@temporalio/worker'

import type { Tracing } from '../process/tracing.ts'

/** As in `workflows/platform/trace.ts`, which carries it on. */
const HEADER = '_tracer-data'

/** Has a client give workflows that it starts the trace that is under way. */
export const traceStarts = ({ current }: Tracing): ClientInterceptors => {
  const carry = <Input extends { readonly headers: Headers }, Result>(
    input: Input,
    next: (input: Input) => Result,
  ): Result => {
    const payload = defaultPayloadConverter.toPayload({ traceparent: current() })
    return next({ ...input, headers: { ...input.headers, [HEADER]: payload } })
  }
  return { workflow: [{ startWithDetails: carry, signalWithStart: carry }] }
}

/** Has a worker show each run of an activity in the trace of its workflow, where that has one. */
export const traceActivities = ({ span }: Tracing): WorkerInterceptors => ({
  activity: [
    ({ info }) => ({
      inbound: {
        execute: async (input, next) => {
          const payload = input.headers[HEADER]
          if (!payload) return await next(input)
          const { traceparent: parent } = defaultPayloadConverter.fromPayload<Carried>(payload)
          const { workflowExecution: of, attempt } = info
          const attributes = { 'workflow.id': of?.workflowId ?? '', 'activity.attempt': attempt }
          const work = async (): Promise<unknown> => await next(input)
          return await span(info.activityType, { kind: 'internal', parent, attributes }, work)
        },
      },
    }),
  ],
})

interface Carried {
  traceparent?: string
}
