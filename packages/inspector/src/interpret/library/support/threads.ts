import { withState } from '../../with-state.ts'
import { spread } from '../../evaluate/call-expression.ts'
import { runUnsure } from '../../execute/branch.ts'
import { readItems } from '../../operate/iterate.ts'
import { callWith } from '../../operate/call.ts'
import { attempt } from '../../operate/raise.ts'
import type { AddedEntries } from '../../operate/set-item.ts'
import { truthOf } from '../../operate/truth.ts'
import type { NativeCall, Value } from '../../types.ts'
import { dictMark } from '../../values/dict.ts'
import { makeEmptyDict, makeInstance, makeTuple, NO_KWARGS } from '../../values/make-value.ts'
import { isFunction } from '../../values/read-value.ts'
import { nodesWithin } from '../../../python/nodes-within.ts'
import { evaluateAwait } from '../../evaluate/expression.ts'
import { nativeState } from '../../values/native.ts'

/** Steps of one thread: servers and watchers go on for ever. */
const THREAD_STEPS = 100_000

/** Calls as in a thread, and gives the result, or else the exception. No `try` of the pack guards the call. */
const outcome: NativeCall = (rt, [fn = null, args = makeTuple([]), named = makeEmptyDict()]) => {
  const { items, rest } = readItems(rt, args)
  const kwargs = new Map<string, Value>()
  const isOpen = spread(rt, kwargs, named)
  return withState(rt, { loop: undefined }, () => {
    const { value = null, raised } = attempt(rt, () => {
      rt.state.handlers = []
      return callWith(rt, fn, { args: items, kwargs, rest: rest || isOpen })
    })
    return makeTuple([value, raised?.exception ?? null])
  })
}

/** The loop that runs; a library may have allowed others within it. */
const runningLoop: NativeCall = ({ state, parser }) =>
  [...parser.parsed.values()].some(({ text }) => text.includes('nest_asyncio'))
    ? null
    : (state.loop ?? null)

/** True for a function that may take its time. */
const sleeps: NativeCall = (_rt, [fn]) =>
  isFunction(fn) &&
  [...nodesWithin(fn.node)].some((part) =>
    'attr' in part ? part.attr === 'sleep' : 'id' in part && part.id === 'sleep',
  )

const WRITTEN = nativeState<AddedEntries>('threading.Thread')

/** Runs a thread. What a daemon writes may not be there, until it is joined. */
const thread: NativeCall = (rt, [run = null, daemon = null]) => {
  const start = () => {
    withState(rt, { isThread: true }, () =>
      rt.budget.attempt(THREAD_STEPS, () => outcome(rt, [run], NO_KWARGS)),
    )
    return undefined
  }
  if (truthOf(rt, daemon) === false) {
    start()
    return null
  }
  return makeInstance(rt.builtinClass('object'), undefined, WRITTEN.wrap(runUnsure(rt, start)))
}

const join: NativeCall = (_rt, [written]) => {
  for (const [dict, hashes] of WRITTEN.of(written) ?? [])
    for (const hash of hashes) dictMark(dict, hash, false)
  return null
}

/** Functions that the modules of threads and pools call beside their own. */
export const THREAD_HELPERS: Record<string, NativeCall> = {
  _outcome: outcome,
  _loop: runningLoop,
  _run: (rt, [value = null]) => withState(rt, { loop: 'own' }, () => evaluateAwait(rt, value)),
  _sleeps: sleeps,
  _thread: thread,
  _join: join,
}
