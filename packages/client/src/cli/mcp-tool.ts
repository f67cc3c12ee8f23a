import type { JsonSchemaType } from '@modelcontextprotocol/server'

import type { Kiln, RunningTask, Task } from '../index.ts'
import type { keepMakings } from './makings.ts'
import { describeReplay } from './words.ts'

/** Arguments of the tools, which the schema of each has validated. */
export interface Given {
  kind?: string
  image?: string
  prompt?: string
  model?: string
  duration?: number
  resolution?: string
  settings?: object
  wait?: boolean
  idempotency_key?: string
  task_id?: string
  state?: ('waiting' | 'queued' | 'running' | 'done' | 'failed' | 'cancelled')[]
  after?: string
  search?: string
  host_node?: string
  limit?: number
  node?: string
  version?: string
  file?: string
  host_version?: string
  installed?: Record<string, string>
  from?: Record<string, string>
  to?: Record<string, string>
  by?: string
  label?: string
  template?: string
  files?: Record<string, string | string[]>
  save_as?: string
}

/** Input of a tool. */
export interface Call {
  kiln: Kiln
  given: Given
  signal: AbortSignal
  makings: ReturnType<typeof keepMakings>
  /** Reads an image that was given as a path. */
  readImage(image: string): Promise<string | Uint8Array>
  /** Reads a saved workflow below the folder. */
  readWorkflow(file: string): Promise<unknown>
  /** A new file below the folder: throws where there is one, or it would be no picture or video. */
  toNewFile(file: string): Promise<string>
  onProgress(progress: Pick<RunningTask, 'status' | 'progress' | 'waitsFor'>): void
}

export interface Tool {
  title: string
  description: string
  members: Record<string, JsonSchemaType>
  required: readonly string[]
  /** Sentence that says how to get what was left out of a result that is too long. */
  rest?: string
  destroys?: boolean
  run(call: Call): Promise<Record<string, unknown>>
}

export const string = (description: string): JsonSchemaType => ({ type: 'string', description })

/** A task as tools return it. */
export const describeTask = ({ id, replayed, ...task }: Task) => ({
  task_id: id,
  ...task,
  ...(replayed && { replayed: describeReplay(replayed, 'task') }),
})
