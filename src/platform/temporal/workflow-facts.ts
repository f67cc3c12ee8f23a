/** Facts for the log of a workflow: its id, and the task that `taskWorkflowId` has made it of. */
export const describeWorkflow = (id: string | undefined): object => {
  const [, task] = /^(?:image|video)-task\/(.+)$/.exec(id ?? '') ?? []
  return {
    ...(id !== undefined && { workflow_id: id }),
    ...(task !== undefined && { task_id: task }),
  }
}
