import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, extname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

import sharp from 'sharp'

import type { Instance } from '../engines/comfyui/instance.ts'
import { findVideoBinaries } from '../../packages/engines/src/binaries.ts'
import { fileOf } from '../engines/domain/template/fields.ts'
import { extraOf, fillTemplate } from '../engines/domain/template/fill.ts'
import { describeNode } from '../engines/domain/template/graph.ts'
import { readRejection } from '../engines/domain/template/rejection.ts'
import { folderOf, readRunEnd } from '../engines/domain/template/run-end.ts'
import type { RunEnd } from '../engines/domain/template/run-end.ts'
import type { Template } from '../engines/domain/template/template.ts'
import type { Config } from '../compose/settings/env.ts'

interface Sample {
  config: Config
  /** PATH. */
  searchPath: string
  template: Template
  instance: Instance
  folder: string
}

const POLL_MS = 500

/**
 * Renders a template on an instance: files are a picture and a video of a second, all else is as in the workflow.
 * @returns the paths of what came of it, named after the template
 * @throws Error that names the node
 */
export const renderSample = async (sample: Sample): Promise<string[]> => {
  const { template, instance, folder, config } = sample
  const { client } = instance
  const id = randomUUID()
  const subfolder = folderOf(id)
  const dir = await mkdtemp(join(tmpdir(), 'kiln-sample-'))
  const files: Record<string, string> = {}
  let entry: Record<string, unknown> | undefined
  try {
    for (const { name, node, input } of template.marks) {
      const media = fileOf(template.graph[node]?.class_type ?? '', input)
      const file = media && (await makeFile(media, dir, sample))
      if (file === undefined) continue
      const to = { path: join(dir, file), filename: file, subfolder, type: 'input' }
      const { status } = await client.upload(to)
      if (status !== 200) throw new Error(`its upload responded with status ${status}`)
      files[name] = `${subfolder}/${file}`
    }
    const { classes } = await instance.readClasses(template)
    const prompt = fillTemplate(template, { values: {}, files, prefix: subfolder }, classes)
    const { status, body } = await client.post('/prompt', {
      prompt,
      prompt_id: id,
      ...extraOf(template),
    })
    const sent = { template, prompt, values: {}, settings: {}, hidden: [] }
    requireFiles(readRejection(status, body, sent) ?? { outputs: [] }, template)
    entry = await waitForEnd(instance, id, config.COMFYUI_STALL_SECONDS)
    const made = requireFiles(readRunEnd(entry, { results: template.results, id }), template)
    const { signal } = new AbortController()
    return await Promise.all(
      made.map(async (output, index) => {
        const number = index > 0 ? `-${index + 1}` : ''
        const extension = 'text' in output ? '.txt' : extname(output.filename)
        const path = join(folder, `${template.name}${number}${extension}`)
        await mkdir(dirname(path), { recursive: true })
        await rm(path, { force: true })
        await client.fetch(output, path, signal)
        return path
      }),
    )
  } finally {
    if (!entry) await instance.cancel(id).catch(() => undefined)
    const inputs = Object.values(files).map((file) => basename(file))
    await instance.empty(id, inputs, entry).catch(() => undefined)
    await rm(dir, { recursive: true })
  }
}

/** Returns the files of an end. Titles stand behind the ids of nodes: an operator knows them from the editor. */
const requireFiles = (end: RunEnd, { graph }: Template) => {
  if (!end.failure) return end.outputs
  const named = end.detail.replaceAll(/\bnode (\w+) (?=\w+: )/g, (found, id: string) =>
    graph[id] ? `${describeNode(id, graph[id])} ` : found,
  )
  throw new Error(named)
}

const waitForEnd = async (instance: Instance, id: string, seconds: number) => {
  const start = performance.now()
  for (;;) {
    const { state, entry } = await instance.find(id, performance.now())
    if (state === 'ended') return entry
    if (state === 'absent' || performance.now() - start > seconds * 1000)
      throw new Error(`the prompt is ${state}; COMFYUI_STALL_SECONDS is how long it is waited for`)
    await sleep(POLL_MS)
  }
}

const PICTURE = 'sample.png'
const VIDEO = 'sample.mp4'
/** Slopes and edges: what a workflow does is seen by them. */
const DRAWN = `<svg xmlns="http://www.w3.org/2000/svg" width="256" height="256"><linearGradient id="g">
<stop stop-color="#f6c177"/><stop offset="1" stop-color="#31748f"/></linearGradient><path d="M0 0H256V256H0Z" fill="url(#g)"/>
<circle cx="128" cy="112" r="56" fill="#eb6f92"/><path d="M16 224L112 128L176 200L208 168L248 224Z" stroke="#fff"/></svg>`

/** Makes the file that a node loads, and returns its name. */
const makeFile = async (
  media: 'image' | 'video',
  dir: string,
  { config, searchPath }: Sample,
): Promise<string> => {
  await sharp(Buffer.from(DRAWN)).png().toFile(join(dir, PICTURE))
  if (media === 'image') return PICTURE
  const { ffmpeg } = await findVideoBinaries({
    ffmpegPath: config.FFMPEG_PATH,
    searchPath,
    production: config.NODE_ENV === 'production',
  })
  const args = `-y -loop 1 -i ${PICTURE} -t 1 -r 24 -pix_fmt yuv420p ${VIDEO}`
  await promisify(execFile)(ffmpeg.path, args.split(' '), { cwd: dir })
  return VIDEO
}
