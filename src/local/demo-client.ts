import { createHash, randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'

import type { DemoJob } from './demo-jobs.ts'

/** The task record as the image routes answer it. */
export interface DemoTask {
  task_id: string
  status: string
  generated: string[]
  error?: { code: string; message: string }
}

/** What the demonstration asks of a service, by HTTP alone. */
export interface DemoClient {
  /** Creates the task; `samples` is the folder of the inputs. */
  create(job: DemoJob, samples: string): Promise<DemoTask>
  read(job: DemoJob, taskId: string): Promise<DemoTask>
  /** Saves the file behind a link; its name gets the extension of the file. */
  save(link: string, path: string): Promise<string>
}

const API = '/proxy/imgvendor/v1/ai'

/** Calls a service in the name of the token's user. Every method throws what the service answered when it refuses. */
export const makeDemoClient = (baseUrl: string, token: string): DemoClient => {
  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await fetch(`${baseUrl.replace(/\/$/, '')}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'idempotency-key': randomUUID() }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
    return JSON.parse(text) as T
  }

  const upload = async (path: string): Promise<string> => {
    const bytes = await readFile(path)
    const links = await call<{ upload_url: string; download_url: string; existing_file: boolean }>(
      'POST',
      '/customers/storage',
      {
        file_name: basename(path),
        file_hash: createHash('sha256').update(bytes).digest('hex'),
      },
    )
    if (links.existing_file) return links.download_url
    const stored = await fetch(links.upload_url, { method: 'PUT', body: bytes })
    if (!stored.ok) throw new Error(`the upload answered ${stored.status}: ${await stored.text()}`)
    return links.download_url
  }

  const give = async ({ input }: DemoJob, path: string): Promise<string> =>
    input === 'upload' ? await upload(path) : await readFile(path, 'base64')

  return {
    create: async (job, samples) => {
      const image = await give(job, `${samples}/${job.sample}`)
      const reference =
        job.reference === undefined
          ? {}
          : { transfer_light_from_reference_image: await give(job, `${samples}/${job.reference}`) }
      const body = { image, ...reference, ...job.settings }
      return (await call<{ data: DemoTask }>('POST', `${API}/${job.path}`, body)).data
    },
    read: async (job, taskId) =>
      (await call<{ data: DemoTask }>('GET', `${API}/${job.family}/${taskId}`)).data,
    save: async (link, path) => {
      const response = await fetch(link)
      if (!response.ok) throw new Error(`the result answered ${response.status}: ${link}`)
      const extension = /\.(\w+)$/.exec(new URL(link).pathname)?.[1] ?? 'png'
      const file = `${path}.${extension}`
      await writeFile(file, Buffer.from(await response.arrayBuffer()))
      return file
    },
  }
}
