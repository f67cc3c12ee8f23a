import { randomUUID } from 'node:crypto'

import { makeBareClient } from '../../support/comfyui/bare-client.ts'
import type { BareClient } from '../../support/comfyui/bare-client.ts'
import type { Graph } from '../../support/comfyui/validate.ts'
import type { HistoryEntry } from '../../support/comfyui/worker.ts'
import { makePicture } from '../../support/pictures.ts'
import { waitFor } from '../../support/wait.ts'

/** A ComfyUI, real or not, of which the same is asserted. */
export interface Subject extends BareClient {
  version: string
  /** Options that it was started with. */
  argv: string[]
  /** Bytes of the largest request. */
  maxUpload: number
  /** True where the class is installed that fails as it is asked to. */
  hasFaults: boolean
  hasModel: boolean
  /** Name of an uploaded picture of 64 by 48. */
  picture: string
  /** Queues a graph and returns the id, which is new. */
  queued(graph: Graph, extra?: Record<string, unknown>): Promise<string>
  /** Queues a graph and waits for its end. */
  run(graph: Graph, extra?: Record<string, unknown>): Promise<HistoryEntry>
  /** Waits until a prompt runs. */
  running(id: string): Promise<void>
  /** Interrupts a prompt that runs and waits for its end. */
  interrupted(id: string): Promise<HistoryEntry>
}

/** One sentence about ComfyUI, and how it is seen. */
export interface Check {
  title: string
  /** Absent: true of every version. */
  versions?: 'with jobs' | 'without jobs'
  /** Absent: true of every instance. */
  needs?: (subject: Subject) => boolean
  run(subject: Subject): Promise<void>
}

export const needsFaults = ({ hasFaults }: Subject): boolean => hasFaults

/** A prefix or a subfolder that nothing else has. */
export const unique = (): string => `kiln/${randomUUID()}`

export const makeSubject = async (url: string): Promise<Subject> => {
  const client = makeBareClient(url)
  const { json: stats } = await client.get<Stats>('/system_stats')
  const { json: features } = await client.get<{ max_upload_size: number }>('/features')
  const { json: fault } = await client.get('/object_info/KilnFault')
  const { text: loader } = await client.get('/object_info/UpscaleModelLoader')
  const bytes = await makePicture({ width: 64, height: 48 })
  const { json: uploaded } = await client.upload({ name: 'kiln-checks.png', bytes })
  const subject: Subject = {
    ...client,
    version: stats.system.comfyui_version,
    argv: stats.system.argv,
    maxUpload: features.max_upload_size,
    hasFaults: Object.keys(fault as object).length > 0,
    hasModel: loader.includes('kiln-tiny-x2.safetensors'),
    picture: uploaded.name,
    async queued(prompt, extra = {}) {
      const id = randomUUID()
      const response = await client.post('/prompt', { prompt, prompt_id: id, ...extra })
      if (response.status !== 200) throw new Error(response.text)
      return id
    },
    run: async (graph, extra) => await client.ended(await subject.queued(graph, extra)),
    running: async (id) =>
      void (await waitFor(`${id} to run`, async () =>
        (await client.queue()).queue_running.some((item) => item[1] === id),
      )),
    async interrupted(id) {
      await client.post('/interrupt', { prompt_id: id })
      return await client.ended(id)
    },
  }
  return subject
}

interface Stats {
  system: { comfyui_version: string; argv: string[] }
}
