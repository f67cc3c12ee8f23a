import { isInstanceValue } from '../../values/guards.ts'
import type { Value } from '../../values/value.ts'

/** Private state that a class of the library keeps in its instances. */
interface NativeState<State> {
  /** For `InstanceValue.native`. */
  wrap: (state: State) => unknown
  /** The state; undefined for any other value, and for instances of other classes. */
  of: (value: Value | undefined) => State | undefined
}

/**
 * Each kind of state carries its name, because a pack can hand any object to any function: without it the state of one
 * class would be taken for that of another.
 */
export const nativeState = <State>(name: string): NativeState<State> => ({
  wrap: (state) => ({ name, state }) satisfies Wrapped<State>,
  of: (value) => {
    if (!isInstanceValue(value)) return undefined
    const wrapped = value.native as Wrapped<State> | undefined
    return wrapped?.name === name ? wrapped.state : undefined
  },
})

interface Wrapped<State> {
  name: string
  state: State
}
