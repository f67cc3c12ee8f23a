import { counted } from '../../platform/domain/counted.ts'
import { settingOf } from '../../tasks/domain/worker-advice.ts'

/** An engine that makes no task now, though workers serve it. */
export interface FailingEngine {
  engine: string
  /** Scope of its open breaker; null where no instance of it takes a task. */
  scope: string | null
  since: string
  /** Open tasks that wait for it; 10,000 are counted. */
  tasks: number
  /** Why: of each instance, or the last error behind the breaker. */
  reasons: string[]
}

/** An engine of ENGINES_HTTP that is no kind of task yet, with what its instances lack. */
export interface AwaitedEngine {
  engine: string
  reasons: string[]
}

/** Says to operators what an engine lacks that makes no task now, and what to do. */
export const describeFailingEngine = ({ engine, scope, tasks, reasons }: FailingEngine): string => {
  const why = reasons.length > 0 ? `: ${reasons.join('; ')}` : ''
  const waiting = counted(tasks, 'task waits', 'tasks wait')
  return scope === null
    ? `no instance of the engine ${engine} takes tasks, and ${waiting}${why}; start it again, or correct ${settingOf(engine)}`
    : `the engine ${engine} fails, and ${waiting}${why}; mend it: one task after the other tests it, and all go on once one succeeds`
}

/** Says to operators why an engine of ENGINES_HTTP is no kind of task yet, and what to do. */
export const describeAwaitedEngine = ({ engine, reasons }: AwaitedEngine): string =>
  `the engine ${engine} is no template yet: ${[...reasons, 'start it, or correct ENGINES_HTTP'].join('; ')}`
