import { Outcome, State } from '../tasks/parts.tsx'
import { useTask } from '../tasks/queries.ts'
import { Button } from '../ui/button.tsx'
import { LinkButton } from '../ui/link.tsx'
import { Row, Stack } from '../ui/page.tsx'
import { Empty, Show } from '../ui/panels.tsx'

/** The task that was sent last: live until it ends, then its result. */
export const Run = ({ task: id, onChangeIt }: { task: string | undefined; onChangeIt(): void }) => {
  const task = useTask(id)
  if (id === undefined) return <Empty>Send the request, and its result stands here.</Empty>
  return (
    <Show query={task}>
      {(data) => (
        <Stack>
          <Row>
            <State task={data} />
            <LinkButton to="/tasks/$task" params={{ task: id }} look="quiet">
              Open the task
            </LinkButton>
          </Row>
          <Outcome task={data} changeIt={<Button onPress={onChangeIt}>Change and send</Button>} />
        </Stack>
      )}
    </Show>
  )
}
