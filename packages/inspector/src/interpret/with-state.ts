import type { RunState, Runtime } from './types.ts'

/** Runs with these parts of the state, and puts back what they were, however the run ends. */
export function withState<T>({ state }: Runtime, parts: Partial<RunState>, run: () => T): T {
  const names = Object.keys(parts) as (keyof RunState)[]
  const before = Object.fromEntries(names.map((name) => [name, state[name]]))
  Object.assign(state, parts)
  try {
    return run()
  } finally {
    Object.assign(state, before)
  }
}
