import type { JsonSchemaType } from '@modelcontextprotocol/server'

import type { TaskKind, TemplateBody } from '../index.ts'
import { UsageError } from './error.ts'
import { makeOf } from './task-commands.ts'
import type { Create } from './makings.ts'
import { describeTask, string } from './mcp-tool.ts'
import type { Call, Tool } from './mcp-tool.ts'
import { defined } from './parts.ts'

const IMAGE_KINDS = {
  relight: 'changes the light: prompt, style, light_transfer_strength',
  upscale: 'makes it larger: scale_factor such as 2x',
  upscalePrecision: 'makes it larger and keeps to it: scale_factor such as 2',
  skinFlexible: 'enhances skin: optimized_for such as improve_lighting',
  skinCreative: 'enhances skin with more style: sharpen, smart_grain',
  skinFaithful: 'enhances skin and keeps to the image: sharpen, smart_grain',
} as const satisfies Partial<Record<TaskKind, string>>

const IMAGE = 'An http(s) link, or the path of a picture in the folder of this server.'

/** Members of the tools that make something. */
const MAKING = {
  settings: {
    type: 'object',
    description: 'Other members of the request. What is wrong in one is said.',
  },
  wait: { type: 'boolean', description: 'False returns once the task is made.' },
  idempotency_key: string(
    'A new one makes another task of the same input; else the same call gives the same task, until its end was read.',
  ),
} satisfies Record<string, JsonSchemaType>

/** Tools that make or end something. */
export const MAKERS: Record<string, Tool> = {
  make_image: {
    title: 'Make an image of an image',
    description: `Relights or upscales an image or enhances skin, waits a while for it, and returns the links of the result, or its task_id when it goes on. Kinds: ${Object.entries(
      IMAGE_KINDS,
    )
      .map(([kind, what]) => `${kind} ${what}`)
      .join('; ')}.`,
    members: {
      kind: { type: 'string', enum: Object.keys(IMAGE_KINDS) },
      image: string(IMAGE),
      prompt: string('Guides relight and upscale, such as "(sunset:1.3) from the left".'),
      ...MAKING,
    },
    required: ['kind', 'image'],
    run: async (call) => {
      const { kind = 'relight', image = '', prompt } = call.given
      const body = { image: await call.readImage(image), ...defined({ prompt }) }
      return await make(call, kind, body)
    },
  },
  make_video: {
    title: 'Make a video',
    description:
      'Makes a video of a prompt, a first image, or both, waits a while for it, and returns its links, or its task_id when it goes on. It costs credits.',
    members: {
      prompt: string('What it shows. It is needed unless there is an image.'),
      image: string(`The first image. ${IMAGE}`),
      model: string('Such as videoq2-pro.'),
      duration: { type: 'integer', description: 'Seconds.' },
      resolution: string('Such as 540p.'),
      ...MAKING,
    },
    required: [],
    run: async (call) => {
      const { image, prompt, model, duration, resolution } = call.given
      const images = image === undefined ? {} : { images: [await call.readImage(image)] }
      const body = { ...images, ...defined({ prompt, model, duration, resolution }) }
      return await make(call, 'textToVideo', body)
    },
  },
  run_template: {
    title: 'Run a template',
    description:
      'Makes a task with a template that list_templates has, waits a while for it, and returns as make_image does.',
    members: {
      template: string('Its name.'),
      files: {
        type: 'object',
        additionalProperties: {
          anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
        },
        description: `Its images by their member, or a list of them where it takes one. ${IMAGE}`,
      },
      ...MAKING,
    },
    required: ['template'],
    run: async (call) => {
      const { template = '', files = {} } = call.given
      const images = await Promise.all(
        Object.entries(files).map(async ([name, file]) => [
          name,
          typeof file === 'string'
            ? await call.readImage(file)
            : await Promise.all(file.map((each) => call.readImage(each))),
        ]),
      )
      const create: Create = (kiln, body, options) =>
        kiln.templates.createTask(template, body as TemplateBody, options)
      const body = Object.fromEntries(images) as object
      return await make(call, `template ${template}`, body, create)
    },
  },
  save_file: {
    title: 'Save what a task has made',
    description: 'Saves the file of a task into the folder of this server, under a new name.',
    members: {
      task_id: string('Its id, a UUID.'),
      save_as: string('A new file of the folder, such as relit.png.'),
    },
    required: ['task_id', 'save_as'],
    run: async ({
      kiln,
      makings,
      given: { task_id: id = '', save_as = '' },
      toNewFile,
      signal,
    }) => {
      const path = await toNewFile(save_as)
      const task = await makings.read(id, signal)
      const [file] = task.state === 'succeeded' ? task.files : []
      if (file === undefined) throw new UsageError(`${id} is ${task.status}: it has no file`)
      await kiln.save(file.url, path, signal)
      return { task_id: id, saved: save_as }
    },
  },
  delete_task: {
    title: 'Delete a task',
    description: 'Deletes a task with its inputs and results, which cannot be undone.',
    members: { task_id: string('Its id, a UUID.') },
    required: ['task_id'],
    destroys: true,
    run: async ({ kiln, given: { task_id: id = '' }, signal }) => {
      await kiln.tasks.delete(id, { signal })
      return { task_id: id, deleted: true }
    },
  },
  cancel_task: {
    title: 'Cancel a task',
    description: 'Cancels a task that has not ended. A video that is being rendered goes on.',
    members: { task_id: string('Its id, a UUID.') },
    required: ['task_id'],
    destroys: true,
    run: async ({ kiln, makings, given: { task_id: id = '' }, signal }) => {
      await kiln.cancel(id, { signal })
      return describeTask(await makings.read(id, signal))
    },
  },
}

const make = async (
  { given, makings, ...options }: Call,
  kind: string,
  body: object,
  create = makeOf(kind as TaskKind),
) => {
  const { settings, wait: isWaiting = true, idempotency_key: key } = given
  const asked = { kind, body: { ...settings, ...body }, key }
  const { task, isRepeated } = await makings.make(asked, create, { ...options, isWaiting })
  if (!task) return { state: 'sending', message: SENDING }
  const message = isRepeated ? REPEATED : task.state === 'running' ? GOES_ON : undefined
  return { ...describeTask(task), ...defined({ message }) }
}

const SENDING = 'The request is still being sent: the same call again goes on with it.'
const GOES_ON = 'It goes on: read_task reads it later.'
const REPEATED =
  'It is the task of the same call before: another idempotency_key makes another one.'
