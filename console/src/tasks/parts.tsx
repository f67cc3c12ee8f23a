import type { ReactNode } from 'react'

import { kindOfPath } from '../try/kinds.ts'
import { AskButton } from '../ui/ask.tsx'
import { LinkButton } from '../ui/link.tsx'
import { Row } from '../ui/page.tsx'
import { Note } from '../ui/panels.tsx'
import { Bdi, Progress, StateBadge, useNow } from '../ui/values.tsx'
import { showSeconds } from '../words/text.ts'
import { cancelTask, taskKey } from './queries.ts'
import { Result } from './result.tsx'
import { wordOf } from './types.ts'
import type { TaskDetail } from './types.ts'

/** How a task is, how long it takes or took, and how to end it. */
export const State = ({ task }: { task: TaskDetail }) => {
  const now = useNow()
  const { created_at: from, ended_at: to, task_id: id, credits } = task
  const seconds = ((to === undefined ? now : Date.parse(to)) - Date.parse(from)) / 1000
  return (
    <Row>
      <StateBadge state={wordOf(task)} />
      <span className="soft">
        {to === undefined ? 'for' : 'in'} {showSeconds(Math.max(0, seconds))}
      </span>
      {task.cancellable && (
        <AskButton
          label="Cancel"
          look="danger"
          title="Cancel this task?"
          action="Cancel the task"
          write={(_values, headers) => cancelTask(task, headers)}
          refresh={[taskKey(id)]}
        >
          <p>It ends without a result. {credits > 0 && 'Its credits are given back.'}</p>
        </AskButton>
      )}
    </Row>
  )
}

/** What came of a task, or how far it is. `changeIt` stands where it failed. */
export const Outcome = ({ task, changeIt }: { task: TaskDetail; changeIt?: ReactNode }) => {
  if (task.state === 'done') return <Result task={task} />
  if (!task.ended_at) return <Going task={task} />
  const { state, error, request, kind, task_id: from } = task
  return (
    <Note tone={state === 'cancelled' ? 'info' : 'bad'}>
      <p>
        <Bdi>{error?.message ?? `It is ${state}.`}</Bdi>{' '}
        {state !== 'cancelled' && <code>{error?.code}</code>}
      </p>
      {changeIt ?? (
        <LinkButton
          to="/try/$kind"
          params={{ kind: kindOfPath(request.path)?.id ?? kind }}
          search={{ from }}
        >
          Change and send
        </LinkButton>
      )}
    </Note>
  )
}

/** A video tells its part; of an image the time is known that its like took. */
const Going = ({ task }: { task: TaskDetail }) => {
  const { started_at: started, estimated_seconds: estimate, family, progress } = task
  const now = useNow()
  const passed = started === undefined ? 0 : Math.max(0, (now - Date.parse(started)) / 1000)
  const left = estimate === undefined ? undefined : estimate - passed
  const guessed = left === undefined ? undefined : passed / (passed + Math.max(left, 0.5))
  const part = family === 'video' ? progress / 100 : guessed
  return (
    <div role="status">
      <Progress label="Progress" part={started === undefined ? undefined : part} />
      <span className="soft small">
        {family === 'video' && `${progress} % · `}
        {started === undefined ? 'It waits for its turn' : aboutLeft(left, passed)}
      </span>
    </div>
  )
}

const aboutLeft = (left: number | undefined, passed: number): string => {
  if (left === undefined) return `for ${showSeconds(passed)}`
  return left > 1 ? `about ${showSeconds(Math.round(left))} left` : 'any moment now'
}
