import type { Pattern, PatternNode } from './pattern.ts'
import type { MatchBudget, MatchOptions } from './regex.ts'

/** Start and end of each group in characters, group 0 being the whole; undefined for one that took no part. */
export type Spans = ([number, number] | undefined)[]

/** Rounds of repeated groups inside each other: each takes some of the stack. */
const MAX_ROUNDS = 1000

/** The first match; null for none, undefined when that takes too many steps to find out. */
export const findMatch = (
  pattern: Pattern,
  text: readonly string[],
  options: MatchOptions,
): Spans | null | undefined => {
  const run: Run = { text, spans: [], budget: options.budget, rounds: 0 }
  const last = options.anchored === true ? options.start : text.length
  for (let start = options.start; start <= last; start += 1) {
    run.spans = []
    const mayBeEmpty = options.mustAdvance !== true || start > options.start
    const end = matchFrom(run, pattern.root, start, (at) => {
      if (options.full === true && at !== text.length) return false
      return mayBeEmpty || at !== start
    })
    if (run.budget.steps <= 0) return undefined
    if (end !== undefined) {
      const groups = Array.from({ length: pattern.groupCount }, (_, at) => run.spans[at + 1])
      return [[start, end], ...groups]
    }
  }
  return null
}

interface Run {
  text: readonly string[]
  spans: Spans
  budget: MatchBudget
  rounds: number
}

/** Tries the rest of the pattern from there. */
type Next = (at: number) => boolean

const matchFrom = (
  run: Run,
  root: PatternNode,
  start: number,
  accepts: Next,
): number | undefined => {
  let end: number | undefined
  const matched = match(run, root, start, (at) => {
    if (!accepts(at)) return false
    end = at
    return true
  })
  return matched ? end : undefined
}

/** With no steps left everything fails, so that the call ends soon. */
const match = (run: Run, node: PatternNode, at: number, next: Next): boolean => {
  run.budget.steps -= 1
  if (run.budget.steps <= 0) return false
  switch (node.kind) {
    case 'character':
      return at < run.text.length && node.matches(run.text[at] ?? '') && next(at + 1)
    case 'sequence':
      return matchItems(run, node.items, 0, at, next)
    case 'choice':
      return node.branches.some((branch) => match(run, branch, at, next))
    case 'group':
      return matchGroup(run, node, at, next)
    case 'repeat':
      return node.body.kind === 'character'
        ? repeatCharacter(run, node, node.body.matches, at, next)
        : repeatGroup(run, node, { at, count: 0 }, next)
    case 'look':
      return matchLookaround(run, node, at) && next(at)
    case 'place':
      return node.holds(run.text, at) && next(at)
  }
}

const matchItems = (
  run: Run,
  items: readonly PatternNode[],
  index: number,
  at: number,
  next: Next,
): boolean => {
  const item = items[index]
  if (item === undefined) return next(at)
  return match(run, item, at, (end) => matchItems(run, items, index + 1, end, next))
}

type NodeOf<Kind extends PatternNode['kind']> = Extract<PatternNode, { kind: Kind }>

const matchGroup = (run: Run, node: NodeOf<'group'>, at: number, next: Next): boolean => {
  const before = run.spans[node.index]
  const matched = match(run, node.body, at, (end) => {
    const inside = run.spans[node.index]
    run.spans[node.index] = [at, end]
    if (next(end)) return true
    run.spans[node.index] = inside
    return false
  })
  if (!matched) run.spans[node.index] = before
  return matched
}

const repeatCharacter = (
  run: Run,
  { min, max, lazy }: NodeOf<'repeat'>,
  matches: (character: string) => boolean,
  start: number,
  next: Next,
): boolean => {
  const longest = Math.min(max, run.text.length - start)
  const takes = (count: number) => matches(run.text[start + count] ?? '')
  let count = 0
  const goal = lazy ? Math.min(min, longest) : longest
  while (count < goal && takes(count)) count += 1
  run.budget.steps -= count
  if (count < min) return false
  if (lazy) {
    for (; run.budget.steps > 0; count += 1) {
      if (next(start + count)) return true
      if (count >= longest || !takes(count)) return false
      run.budget.steps -= 1
    }
    return false
  }
  for (; count >= min && run.budget.steps > 0; count -= 1) {
    if (next(start + count)) return true
    run.budget.steps -= 1
  }
  return false
}

const repeatGroup = (
  run: Run,
  node: NodeOf<'repeat'>,
  round: { at: number; count: number },
  next: Next,
): boolean => {
  const { at, count } = round
  const again = () => {
    if (count >= node.max || run.rounds >= MAX_ROUNDS) {
      if (run.rounds >= MAX_ROUNDS) run.budget.steps = 0
      return false
    }
    run.rounds += 1
    const matched = match(run, node.body, at, (end) => {
      // A round that takes nothing would repeat for ever.
      if (end === at && count >= node.min) return false
      return repeatGroup(run, node, { at: end, count: count + 1 }, next)
    })
    run.rounds -= 1
    return matched
  }
  if (count < node.min) return again()
  return node.lazy ? next(at) || again() : again() || next(at)
}

const matchLookaround = (run: Run, node: NodeOf<'look'>, at: number): boolean => {
  const start = at - node.width
  if (start < 0) return node.negated
  const before = [...run.spans]
  const end = matchFrom(run, node.body, start, (end) => !node.behind || end === at)
  if (node.negated || end === undefined) run.spans = before
  return (end !== undefined) !== node.negated
}
