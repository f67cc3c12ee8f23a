import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, extname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

import sharp from 'sharp'

import type { Instance } from '../adapters/comfyui/instance.ts'
import { findVideoBinaries } from '../adapters/video-engine/binaries.ts'
import { readSearchPath } from '../config.ts'
import { fillTemplate } from '../domain/template/fill.ts'
import { describeNode } from '../domain/template/graph.ts'
import { folderOf, readRejection, readRunEnd } from '../domain/template/run-end.ts'
import type { Template } from '../domain/template/template.ts'
import type { Config } from '../process/settings/env.ts'

interface Sample {
  template: Template
  instance: Instance
  /** The file is named after the template. */
  folder: string
}

const POLL_MS = 500

/**
 * Renders a template on an instance: files are a picture and a video of a second, all else is as in the workflow.
 * @returns the paths of what came of it
 * @throws Error that names the node
 */
export const renderSample = async (
  { template, instance, folder }: Sample,
  config: Config,
): Promise<string> => {
  const id = randomUUID()
  const dir = await mkdtemp(join(tmpdir(), 'kiln-sample-'))
  const inputs: string[] = []
  let entry: Record<string, unknown> | undefined
  try {
    const files: Record<string, string> = {}
    for (const { name, node } of template.marks) {
      const filename = await makeFile(template.graph[node]?.class_type ?? '', { name, dir, config })
      if (filename === undefined) continue
      const to = { path: join(dir, filename), filename, subfolder: folderOf(id), type: 'input' }
      const { status } = await instance.client.upload(to)
      if (status !== 200) throw new Error(`its upload responded with status ${status}`)
      inputs.push(filename)
      files[name] = `${folderOf(id)}/${filename}`
    }
    const { classes } = await instance.readClasses(template)
    const prompt = fillTemplate(template, { values: {}, files, prefix: folderOf(id) }, classes)
    const { status, body } = await instance.client.post('/prompt', { prompt, prompt_id: id })
    const rejection = readRejection(status, body, [])
    if (rejection) throw new Error(withTitles(rejection.detail, template))
    entry = await waitForEnd(instance, id, config.COMFYUI_STALL_SECONDS)
    const end = readRunEnd(entry, { result: template.result, id })
    if (end.failure) throw new Error(withTitles(end.detail, template))
    const paths: string[] = []
    for (const [index, file] of end.files.entries()) {
      const name = `${template.name}${index > 0 ? `-${index + 1}` : ''}${extname(file.filename)}`
      const path = join(folder, name)
      await mkdir(dirname(path), { recursive: true })
      await rm(path, { force: true })
      await instance.client.fetch(file, path, new AbortController().signal)
      paths.push(path)
    }
    return paths.join(', ')
  } catch (error) {
    if (!entry) await instance.cancel(id).catch(() => undefined)
    throw error
  } finally {
    await instance.empty(id, inputs, entry).catch(() => undefined)
    await rm(dir, { recursive: true })
  }
}

/** Puts titles behind the ids of nodes: an operator knows them from the editor. */
const withTitles = (detail: string, { graph }: Template): string =>
  detail.replaceAll(/\bnode (\w+) (?=\w+: )/g, (found, id: string) =>
    graph[id] ? `${describeNode(id, graph[id])} ` : found,
  )

const waitForEnd = async (instance: Instance, id: string, seconds: number) => {
  const start = performance.now()
  for (;;) {
    const { state, entry } = await instance.find(id, performance.now())
    if (state === 'ended') return entry
    if (state === 'absent') throw new Error('it does not know the prompt any more')
    if (performance.now() - start > seconds * 1000)
      throw new Error(`it is ${state} after ${seconds} s (COMFYUI_STALL_SECONDS)`)
    await sleep(POLL_MS)
  }
}

const SIZE = 256
/** Lines on a slope of colours: what a workflow does is seen by them. */
const DRAWN = `<svg xmlns="http://www.w3.org/2000/svg" width="${SIZE}" height="${SIZE}">
<linearGradient id="g" x2="1" y2="1"><stop stop-color="#f6c177"/><stop offset="1" stop-color="#31748f"/></linearGradient>
<rect width="100%" height="100%" fill="url(#g)"/><circle cx="128" cy="112" r="56" fill="#eb6f92"/>
<path d="M16 224L112 128L176 200L208 168L248 224Z" fill="#26233a" stroke="#fff" stroke-width="3"/></svg>`

interface NewFile {
  name: string
  dir: string
  config: Config
}

/** Makes the file that a node loads, and returns its name; undefined where it loads none. */
const makeFile = async (
  className: string,
  { name, dir, config }: NewFile,
): Promise<string | undefined> => {
  if (!/^Load(Image|Video)/.test(className)) return undefined
  const picture = `${name}.png`
  await sharp(Buffer.from(DRAWN)).png().toFile(join(dir, picture))
  if (!className.startsWith('LoadVideo')) return picture
  const { ffmpeg } = await findVideoBinaries({
    ffmpegPath: config.FFMPEG_PATH,
    searchPath: readSearchPath(),
    production: config.NODE_ENV === 'production',
  })
  const args = `-loop 1 -i ${picture} -t 1 -r 24 -pix_fmt yuv420p ${name}.mp4`
  await promisify(execFile)(ffmpeg.path, args.split(' '), { cwd: dir })
  return `${name}.mp4`
}
