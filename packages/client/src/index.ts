import { makeBatches, makeOperations } from './lib/bulk.ts'
import { makeCreators, makeTemplates } from './lib/create.ts'
import { makeEndpoints, makeEvents, makeSecrets } from './lib/events.ts'
import { makeHttp } from './lib/http.ts'
import type { KilnOptions } from './lib/http.ts'
import { makeRegistry } from './lib/registry.ts'
import { readWithRetries, withRetries } from './lib/retry.ts'
import { save } from './lib/save.ts'
import { makeTaskList, makeUsage } from './lib/task-list.ts'
import { makeTasks } from './lib/tasks.ts'
import { upload } from './lib/upload.ts'
import type { UploadOptions } from './lib/upload.ts'
import type { UploadSource } from './lib/bytes.ts'

export { ArgumentError } from './lib/argument.ts'
export { KilnError } from './lib/errors.ts'
export { responseOf } from './lib/http.ts'
export { verifyWebhook, WebhookError } from './lib/webhook.ts'
export type * from './lib/errors.ts'
export type * from './lib/events.ts'
export type * from './lib/http.ts'
export type * from './lib/retry.ts'
export type * from './lib/replay.ts'
export type * from './lib/bytes.ts'
export type * from './lib/bulk.ts'
export type * from './lib/upload.ts'
export type * from './lib/create.ts'
export type * from './lib/task.ts'
export type * from './lib/tasks.ts'
export type * from './lib/task-list.ts'
export type * from './lib/registry.ts'
export type * from './lib/webhook.ts'
export type { paths } from './generated/openapi.ts'

/** A client of one service. It needs `fetch` and nothing else, so it runs in Node from 20.19 on and in browsers. */
export const makeKiln = (options: KilnOptions) => {
  const http = makeHttp(options)
  const read = (link: string, signal: AbortSignal | undefined) => () =>
    http.sendToLink(link, { signal: signal ?? null })
  return {
    ...makeCreators(http),
    ...makeTasks(http),
    ...makeUsage(http),
    /** Tasks of all kinds as lists and records. */
    tasks: makeTaskList(http),
    /** Events of tasks, and what has become of their delivery. */
    events: makeEvents(http),
    /** Subscriptions to the events of all tasks. */
    endpoints: makeEndpoints(http),
    /** Secrets that sign notifications. */
    secrets: makeSecrets(http),
    /** Kinds that an operator of the service has added. */
    templates: makeTemplates(http),
    /** Many tasks with one request. */
    batches: makeBatches(http),
    /** One action on all tasks that a filter finds. */
    operations: makeOperations(http),
    /** Uploads a file; returns its link, which any image or video of a task may be for 24 hours. */
    upload: (source: UploadSource, options?: UploadOptions): Promise<string> =>
      upload(http, source, options),
    /** Reads the file behind a signed link. */
    download: (link: string, signal?: AbortSignal): Promise<Response> =>
      withRetries(http.retry, signal, read(link, signal)),
    /** Saves the file behind a signed link, whole or not at all. In a browser `download` takes its place. */
    save: (link: string, path: string, signal?: AbortSignal): Promise<void> =>
      save(path, () => readWithRetries(http.retry, signal, read(link, signal))),
    registry: makeRegistry(http),
    /** Every route of the document, typed, with this client's credential, retries and keys: `responseOf` takes their responses. */
    routes: http.routes,
  }
}

export type Kiln = ReturnType<typeof makeKiln>
