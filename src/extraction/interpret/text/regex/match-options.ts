export interface MatchOptions {
  /** Where to begin, in characters. */
  start: number
  /** The match has to reach the end of the text. */
  full?: boolean
  /** Only at `start`, not behind it. */
  anchored?: boolean
  /** An empty match at `start` doesn't count: the one before it was empty. */
  mustAdvance?: boolean
  /** Shared by all matches of one call. */
  budget: MatchBudget
}

/** Steps that are left. */
export interface MatchBudget {
  steps: number
}

/** What one call of `re` may take. */
export const makeMatchBudget = (): MatchBudget => ({ steps: MAX_STEPS })

/**
 * Steps of one call. Backtracking over several repeats takes the power of their number, which JavaScript's own engine
 * can't be stopped from doing; this one gives up after some 20 ms.
 */
const MAX_STEPS = 500_000
