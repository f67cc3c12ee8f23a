import type { Kwargs, Value } from './value.ts'

export interface CallArguments {
  args: Value[]
  kwargs: Kwargs
  /** `*unknown` or `**unknown` was passed: there may be more. */
  rest: boolean
}
