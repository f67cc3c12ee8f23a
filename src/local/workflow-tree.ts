import { setTimeout as sleep } from 'node:timers/promises'

import { Client } from '@temporalio/client'
import type { WorkflowClient, WorkflowExecutionInfo } from '@temporalio/client'

import { openTemporal } from '../platform/temporal/connection.ts'
import type { TemporalOptions } from '../platform/settings/temporal.ts'

export interface WorkflowTreeOptions {
  temporal: TemporalOptions
  /** Id of the workflow at the top. */
  workflowId: string
}

/** The finished workflow and all that it started, a line each: indented as they were started, with status and duration. */
export const drawWorkflowTree = async ({
  temporal,
  workflowId,
}: WorkflowTreeOptions): Promise<string[]> => {
  const connection = openTemporal(temporal)
  try {
    const { workflow } = new Client({ connection, namespace: temporal.namespace })
    await workflow.getHandle(workflowId).result()
    for (;;) {
      const found = await listTree(workflow, workflowId)
      // Lists follow the end of a workflow a moment later.
      if (found.length > 0 && found.every(({ closeTime }) => closeTime))
        return draw(found, undefined, '')
      await sleep(100)
    }
  } finally {
    await connection.close()
  }
}

const listTree = async (
  workflow: WorkflowClient,
  workflowId: string,
): Promise<WorkflowExecutionInfo[]> => {
  const found: WorkflowExecutionInfo[] = []
  for await (const execution of workflow.list({ query: `RootWorkflowId = '${workflowId}'` }))
    found.push(execution)
  return found.toSorted((a, b) => a.startTime.getTime() - b.startTime.getTime())
}

const draw = (
  all: readonly WorkflowExecutionInfo[],
  parentId: string | undefined,
  indent: string,
): string[] =>
  all
    .filter(({ parentExecution }) => parentExecution?.workflowId === parentId)
    .flatMap((execution) => [
      `${indent}${describe(execution)}`,
      ...draw(all, execution.workflowId, `${indent.replace('└ ', '  ')}└ `),
    ])

const describe = ({ type, workflowId, status, startTime, closeTime }: WorkflowExecutionInfo) => {
  const seconds = closeTime && ((closeTime.getTime() - startTime.getTime()) / 1000).toFixed(1)
  const name = workflowId.split('/')[0]
  return `${type}  ${name}/…  ${status.name.toLowerCase()}${seconds ? ` in ${seconds} s` : ''}`
}
