import { words } from '../words.ts'

/**
 * The limits of one run. Steps and time end it (BudgetSpent unwinds to the public functions, which keep what there is);
 * every other limit only makes the value at hand unknown.
 */
export const LIMITS = {
  // The largest of 135 real packs needs 174,000.
  steps: 3_000_000,
  callDepth: 60,
  sameFunction: 6,
  /** The same, of a function that calls itself under no condition that can't be decided, and is seldom called. */
  sameFunctionDeep: 40,
  forItems: 20_000,
  whileRounds: 2000,
  nesting: 400,
  /** UTF-16 units of one string. */
  stringLength: 1_048_576,
  /** Items of one repeated sequence. */
  repeatedItems: 10_000,
  /** Items of one container made in any other way. */
  containerItems: 200_000,
  /** Containers and instances made in one run. */
  containers: 2_000_000,
  /** Characters in long strings, and items in containers, of one run: bounds the memory. */
  volume: 20_000_000,
  /** Bytes of one file that the pack reads. */
  fileBytes: 5_000_000,
  /** Bytes of Python parsed in all. */
  parsedBytes: 32_000_000,
  milliseconds: 10_000,
}

export type Limits = typeof LIMITS

/** Names of limits, as they appear in reasons after `budget_`. */
export type BudgetName =
  | 'steps'
  | 'time'
  | 'depth'
  | 'recursion'
  | 'items'
  | 'rounds'
  | 'nesting'
  | 'string'
  | 'containers'
  | 'memory'
  | 'file'
  | 'parsed'
  | 'pattern'
  | 'number'

/**
 * Limits after which names may be missing although nothing else shows it: the run or a loop was cut, a file not parsed.
 * After the others there is an unknown value, which speaks for itself.
 */
export const CUTTING: ReadonlySet<string> = new Set(
  words('steps time depth items rounds containers memory parsed'),
)

/** Ends the run, or the call of one `INPUT_TYPES`. Never seen outside the interpreter. */
export class BudgetSpent extends Error {
  readonly budget: 'steps' | 'time'

  constructor(budget: 'steps' | 'time') {
    super(`The budget of ${budget} is spent`)
    this.budget = budget
  }
}

export interface Budget {
  limits: Limits
  /** Steps taken so far: statements and expressions; those of the library's Python count 1/256. */
  steps: number
  /** Takes steps. Throws BudgetSpent. Native functions take one for every sixteen items they touch. */
  step(count: number): void
  /** Records that a limit was met; the caller goes on with an unknown. */
  spent(budget: BudgetName, detail?: string): undefined
  /** True when a new container of that many items may be made; if not, the budget is recorded as spent. */
  allowItems(count: number): boolean
  /** True when a new string of that length may be made. */
  allowString(length: number): boolean
  /** Runs with at most that many steps of the total. */
  within<T>(steps: number, run: () => T): T
  /** The same, and gives undefined where they are spent. */
  attempt<T>(steps: number, run: () => T): T | undefined
}

// Reading the clock costs as much as a few steps.
const STEPS_BETWEEN_CLOCK_READS = 1024

// Shorter strings are paid for by the step that makes them.
const LONG_STRING = 256

export function makeBudget(
  limits: Limits,
  now: (() => number) | undefined,
  onSpent: (budget: BudgetName, detail: string) => void,
): Budget {
  const deadline = now ? now() + limits.milliseconds : Infinity
  let ceiling = limits.steps
  let nextCheck = STEPS_BETWEEN_CLOCK_READS
  let containers = 0
  let volume = 0

  function checkTime(): void {
    nextCheck = budget.steps + STEPS_BETWEEN_CLOCK_READS
    if (now && now() > deadline) end('time')
  }

  function end(name: 'steps' | 'time'): never {
    onSpent(name, '')
    throw new BudgetSpent(name)
  }

  function takeVolume(amount: number): boolean {
    volume += amount
    if (volume <= limits.volume) return true
    onSpent('memory', '')
    return false
  }

  const budget: Budget = {
    limits,
    steps: 0,
    step(count) {
      budget.steps += count
      if (budget.steps > ceiling) end('steps')
      if (budget.steps > nextCheck) checkTime()
    },
    spent(name, detail = '') {
      onSpent(name, detail)
    },
    allowItems(count) {
      containers += 1
      if (count <= limits.containerItems && containers <= limits.containers)
        return takeVolume(count)
      onSpent(count > limits.containerItems ? 'items' : 'containers', '')
      return false
    },
    allowString(length) {
      if (length < LONG_STRING) return true
      if (length <= limits.stringLength) return takeVolume(length)
      onSpent('string', '')
      return false
    },
    within(steps, run) {
      const before = ceiling
      ceiling = Math.min(before, budget.steps + steps)
      try {
        return run()
      } finally {
        ceiling = before
      }
    },
    attempt(steps, run) {
      try {
        return budget.within(steps, run)
      } catch (error) {
        if (error instanceof BudgetSpent && error.budget === 'steps' && budget.steps <= ceiling)
          return undefined
        throw error
      }
    },
  }
  return budget
}
