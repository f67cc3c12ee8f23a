import { deepEqual, equal, match } from 'node:assert/strict'

import { makeGraph } from '../../support/comfyui/bare-client.ts'
import { makePicture } from '../../support/pictures.ts'
import { unique } from './subject.ts'
import type { Check, Subject } from './subject.ts'

/** Bytes that a test can send in a moment. */
const SMALL = 30_000_000

const runPicture = async (subject: Subject, image: string) =>
  await subject.run(makeGraph(image, unique()))

export const UPLOAD_CHECKS: readonly Check[] = [
  {
    title: 'names an upload by its bytes: the same keep the name, others get a number',
    async run(subject) {
      const subfolder = unique()
      const names: string[] = []
      for (const shade of [1, 1, 2, 3, 2]) {
        const bytes = await makePicture({ shade })
        const { status, json } = await subject.upload({ name: 'a.png', bytes, subfolder })
        equal(status, 200)
        deepEqual([json.subfolder, json.type], [subfolder, 'input'])
        names.push(json.name)
      }
      deepEqual(names, ['a.png', 'a.png', 'a (1).png', 'a (2).png', 'a (1).png'])
    },
  },
  {
    title: 'replaces an upload where that is asked for',
    async run(subject) {
      const subfolder = unique()
      for (const shade of [1, 2]) {
        const bytes = await makePicture({ shade })
        const overwrite = shade === 1 ? '1' : 'true'
        const { json } = await subject.upload({ name: 'a.png', bytes, subfolder, overwrite })
        equal(json.name, 'a.png')
        const file = { filename: 'a.png', subfolder, type: 'input' } as const
        deepEqual((await subject.view(file)).bytes, bytes)
      }
    },
  },
  {
    title: 'loads a picture of a subfolder',
    async run(subject) {
      const subfolder = unique()
      await subject.upload({ name: 'a.png', bytes: await makePicture(), subfolder })
      const entry = await runPicture(subject, `${subfolder}/a.png`)
      equal(entry.status.status_str, 'success')
    },
  },
  {
    title: 'takes any bytes, and fails when it runs at what is no picture',
    async run(subject) {
      const whole = await makePicture()
      for (const [name, bytes, type] of [
        ['empty.png', Buffer.alloc(0), 'PIL.UnidentifiedImageError'],
        ['page.html', Buffer.from('<p>'), 'PIL.UnidentifiedImageError'],
        ['header.png', whole.subarray(0, 20), 'OSError'],
      ] as const) {
        const subfolder = unique()
        equal((await subject.upload({ name, bytes, subfolder })).status, 200)
        const { status } = await runPicture(subject, `${subfolder}/${name}`)
        equal(status.messages.at(-1)?.[1]['exception_type'], type, name)
      }
    },
  },
  {
    title: 'renders a picture whose end is missing, as far as it goes',
    async run(subject) {
      for (const format of ['png', 'jpeg'] as const) {
        const whole = await makePicture({ width: 64, height: 48, format })
        const bytes = whole.subarray(0, whole.length / 2)
        const subfolder = unique()
        await subject.upload({ name: 'cut', bytes, subfolder })
        const { status } = await runPicture(subject, `${subfolder}/cut`)
        equal(status.status_str, 'success', format)
      }
    },
  },
  {
    title: 'rejects names and folders that lead outside',
    async run(subject) {
      const bytes = await makePicture()
      const statuses: number[] = []
      for (const fields of [
        { name: '../../../x.png' },
        { name: 'x.png', subfolder: '../outside' },
        { name: 'x.png', subfolder: '/tmp' },
        { name: 'nowhere/x.png' },
        { name: 'x.png', type: 'models' },
        { name: `${'x'.repeat(252)}.png` },
      ])
        statuses.push((await subject.upload({ bytes, ...fields })).status)
      deepEqual(statuses, [400, 400, 400, 500, 500, 500])
    },
  },
  {
    title: 'rejects a request that is larger than it says it takes',
    needs: ({ maxUpload }) => maxUpload <= SMALL,
    async run(subject) {
      const bytes = Buffer.alloc(subject.maxUpload + 1)
      const { status, text } = await subject.upload({ name: 'large.bin', bytes })
      equal(status, 413)
      match(text, new RegExp(`^Maximum request body size ${subject.maxUpload} exceeded`))
    },
  },
  {
    title: 'forgets the bytes of an upload that is replaced by none',
    async run(subject) {
      const subfolder = unique()
      for (const bytes of [await makePicture(), Buffer.alloc(0)])
        await subject.upload({ name: 'a.png', bytes, subfolder, overwrite: 'true' })
      const { status, bytes } = await subject.view({ filename: 'a.png', subfolder, type: 'input' })
      deepEqual([status, bytes.length], [200, 0])
    },
  },
]
