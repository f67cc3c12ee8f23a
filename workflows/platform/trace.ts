import type { Headers, WorkflowInterceptorsFactory } from '@temporalio/workflow'

/** The header in which the SDKs of Temporal carry the trace of a call. */
const HEADER = '_tracer-data'

type Input = { readonly headers: Headers }

/**
 * Hands the trace that a workflow was started in to all that it starts. It opens no span and loads no library: a
 * workflow has nothing to measure that its activities do not show, and it replays alike whether there is a trace or
 * not.
 */
export const interceptors: WorkflowInterceptorsFactory = () => {
  let carried: Headers = {}
  const carry = <I extends Input, R>(input: I, next: (input: I) => R): R =>
    next({ ...input, headers: { ...carried, ...input.headers } })
  return {
    inbound: [
      {
        execute: (input, next) => {
          const found = input.headers[HEADER]
          if (found) carried = { [HEADER]: found }
          return next(input)
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: carry,
        scheduleLocalActivity: carry,
        startChildWorkflowExecution: carry,
        continueAsNew: carry,
      },
    ],
  }
}
