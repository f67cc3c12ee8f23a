import type { HistoryEntry, Worker } from './worker.ts'

/** Describes a prompt that waits, runs or has ended, as a version with `/api/jobs` does; undefined when unknown. */
export const describeJob = (id: string, worker: Worker) =>
  listAll(worker).find((job) => job.id === id)

/** Jobs of the statuses that are asked for, the youngest first. */
export const listJobs = (query: URLSearchParams, worker: Worker) => {
  const statuses = query.get('status')?.split(',')
  const jobs = listAll(worker).filter(({ status }) => statuses?.includes(status) ?? true)
  const offset = Number(query.get('offset') ?? 0)
  const limit = Number(query.get('limit') ?? jobs.length)
  const shown = jobs
    .toSorted((a, b) => b.create_time - a.create_time)
    .slice(offset, offset + limit)
    .map((job) => ({ ...job, outputs: undefined }))
  const has_more = offset + shown.length < jobs.length
  return { jobs: shown, pagination: { offset, limit, total: jobs.length, has_more } }
}

const listAll = (worker: Worker) => {
  const { queue_running, queue_pending } = worker.queue()
  const queued = [
    ...queue_running.map((item) => ({ item, status: 'in_progress' })),
    ...queue_pending.map((item) => ({ item, status: 'pending' })),
  ]
  return [
    ...queued.map(({ item: [priority, id, , extra], status }) => ({
      id,
      status,
      priority,
      outputs: {},
      outputs_count: 0,
      create_time: Number(extra['create_time'] ?? 0),
    })),
    ...[...worker.history.values()].map(describeEnded),
  ]
}

const describeEnded = ({ prompt: [priority, id, , extra], outputs, status }: HistoryEntry) => {
  const [first, last] = [status.messages[0]?.[1], status.messages.at(-1)]
  const failed = last?.[0] === 'execution_interrupted' ? 'cancelled' : 'failed'
  return {
    id,
    status: status.completed ? 'completed' : failed,
    priority,
    outputs,
    create_time: Number(extra['create_time'] ?? 0),
    execution_start_time: first?.['timestamp'],
    execution_end_time: last?.[1]['timestamp'],
    ...(last?.[0] === 'execution_error' && { execution_error: last[1] }),
    execution_status: status,
    outputs_count: Object.keys(outputs).length,
  }
}
