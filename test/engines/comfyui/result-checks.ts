import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import sharp from 'sharp'

import { ROOT } from '../../../src/local/root.ts'
import { listSaved, makeGraph } from '../../support/comfyui/bare-client.ts'
import type { Graph } from '../../support/comfyui/validate.ts'
import { unique } from './subject.ts'
import type { Check, Subject } from './subject.ts'

/** An example template, whose marked inputs are set as an engine sets them. */
const readTemplate = async (
  subject: Subject,
  name: string,
  values: Record<string, Record<string, unknown>> = {},
): Promise<Graph> => {
  const path = join(ROOT, `deploy/comfyui/templates/${name}.json`)
  const graph = JSON.parse(await readFile(path, 'utf8')) as Graph
  for (const { class_type, inputs } of Object.values(graph)) {
    if (class_type === 'LoadImage') inputs['image'] = subject.picture
    if ('filename_prefix' in inputs) inputs['filename_prefix'] = `${unique()}/r`
  }
  for (const [id, inputs] of Object.entries(values)) Object.assign(graph[id]?.inputs ?? {}, inputs)
  return graph
}

/** Renders a template and reads its one file. */
const render = async (subject: Subject, graph: Graph): Promise<Buffer> => {
  const entry = await subject.run(graph)
  equal(entry.status.status_str, 'success', JSON.stringify(entry.status.messages))
  const files = listSaved(entry)
  equal(files.length, 1)
  const [file] = files
  ok(file)
  match(file.filename, /^r_00001_\.(png|mp4)$/)
  const { status, bytes, headers } = await subject.view(file)
  equal(status, 200)
  equal(headers['content-type'], file.filename.endsWith('png') ? 'image/png' : 'video/mp4')
  return bytes
}

const readSize = async (png: Buffer) => {
  const { width, height, format } = await sharp(png).metadata()
  return { width, height, format }
}

/** Frames of a film, by the box that counts the samples of its only track. */
const countFrames = (mp4: Buffer): number => mp4.readUInt32BE(mp4.indexOf('stsz') + 12)

const makeFilm = async (subject: Subject): Promise<Buffer> =>
  await render(subject, await readTemplate(subject, 'text2video+start', { 3: { value: 6 } }))

export const RESULT_CHECKS: readonly Check[] = [
  {
    title: 'renders the template of upscaling in twice the size',
    async run(subject) {
      const png = await render(subject, await readTemplate(subject, 'upscale'))
      deepEqual(await readSize(png), { width: 128, height: 96, format: 'png' })
    },
  },
  {
    title: 'renders the template of skin in the same size',
    async run(subject) {
      const png = await render(subject, await readTemplate(subject, 'skin_flexible'))
      deepEqual(await readSize(png), { width: 64, height: 48, format: 'png' })
    },
  },
  {
    title: 'renders the template of relighting from two pictures',
    async run(subject) {
      const png = await render(subject, await readTemplate(subject, 'relight+light'))
      deepEqual(await readSize(png), { width: 64, height: 48, format: 'png' })
    },
  },
  {
    title: 'renders the template of a film as many frames as it asks for',
    async run(subject) {
      equal(countFrames(await makeFilm(subject)), 6)
    },
  },
  {
    title: 'renders the template of an extension: the film and the new frames',
    async run(subject) {
      const subfolder = unique()
      await subject.upload({ name: 'in.mp4', bytes: await makeFilm(subject), subfolder })
      const values = { 1: { file: `${subfolder}/in.mp4` }, 4: { value: 4 } }
      const mp4 = await render(subject, await readTemplate(subject, 'extend', values))
      equal(countFrames(mp4), 10)
    },
  },
  {
    title: 'renders the template of the upscaling model in twice the size',
    needs: ({ hasModel }) => hasModel,
    async run(subject) {
      const png = await render(subject, await readTemplate(subject, 'custom/upscale-model'))
      deepEqual(await readSize(png), { width: 128, height: 96, format: 'png' })
    },
  },
  {
    title: 'lists films under images, and says that they move',
    async run(subject) {
      const entry = await subject.run(await readTemplate(subject, 'text2video+start'))
      const output = entry.outputs['9'] as Record<string, unknown>
      deepEqual(output['animated'], [true])
      equal((output['images'] as unknown[]).length, 1)
    },
  },
  {
    title: 'counts on in the folder of a prefix',
    async run(subject) {
      const folder = unique()
      const names: (string | undefined)[] = []
      for (const sigma of [1, 2]) {
        const graph = makeGraph(subject.picture, folder)
        Object.assign(graph['2']?.inputs ?? {}, { sigma })
        names.push(listSaved(await subject.run(graph))[0]?.filename)
      }
      deepEqual(names, ['r_00001_.png', 'r_00002_.png'])
    },
  },
  {
    title: 'keeps previews among the temporary files',
    async run(subject) {
      const graph = makeGraph(subject.picture, '')
      graph['9'] = { class_type: 'PreviewImage', inputs: { images: ['2', 0] } }
      const [file] = listSaved(await subject.run(graph))
      ok(file)
      equal(file.type, 'temp')
      equal((await subject.view(file)).status, 200)
    },
  },
  {
    title: 'writes the graph into a picture, unless it was started with --disable-metadata',
    async run(subject) {
      const png = await render(subject, await readTemplate(subject, 'upscale'))
      equal(png.includes('tEXtprompt'), !subject.argv.includes('--disable-metadata'))
    },
  },
  {
    title: 'serves a file whole, in parts, and not at all where it is unchanged',
    async run(subject) {
      const [file] = listSaved(await subject.run(makeGraph(subject.picture, unique())))
      ok(file)
      const { filename, subfolder } = file
      const path = `/view?${new URLSearchParams({ filename, subfolder }).toString()}`
      const whole = await subject.get(path)
      const part = await subject.get(path, { range: 'bytes=10-19' })
      equal(part.status, 206)
      equal(part.headers['content-range'], `bytes 10-19/${whole.bytes.length}`)
      deepEqual(part.bytes, whole.bytes.subarray(10, 20))
      const rest = await subject.get(path, { range: 'bytes=100-' })
      deepEqual(rest.bytes, whole.bytes.subarray(100))
      const again = await subject.get(path, { 'if-none-match': String(whole.headers['etag']) })
      equal(again.status, 304)
    },
  },
  {
    title: 'rejects what is not there, and what lies outside',
    async run(subject) {
      const statuses: number[] = []
      for (const query of [
        'filename=missing.png',
        'filename=missing.png&subfolder=nowhere',
        '',
        'filename=..%2Fx.png',
        'filename=%2Fetc%2Fhostname',
        'filename=x.png&type=models',
        'filename=x.png&subfolder=..%2F..',
      ])
        statuses.push((await subject.get(`/view?${query}`)).status)
      deepEqual(statuses, [404, 404, 404, 400, 400, 400, 403])
    },
  },
  {
    title: 'forgets a result that is replaced by no bytes, and deletes none',
    async run(subject) {
      const [file] = listSaved(await subject.run(makeGraph(subject.picture, unique())))
      ok(file)
      const { filename: name, subfolder, type } = file
      equal((await subject.send('DELETE', '/view')).status, 405)
      const bytes = Buffer.alloc(0)
      await subject.upload({ name, bytes, subfolder, type, overwrite: 'true' })
      deepEqual((await subject.view(file)).bytes, bytes)
    },
  },
]
