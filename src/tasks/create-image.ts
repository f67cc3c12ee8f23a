import { insertImageTask } from '../db/image-task/image-task.ts'
import type { NewTaskInput } from '../db/task/task-file.ts'
import { pixelLimitIssue } from '../domain/image-task/image-size.ts'
import { listRelightWarnings } from '../domain/image-task/prompt-light.ts'
import type { ImageKind, ImageRequest } from '../domain/image-task/image-kind.ts'
import { parsePrompt } from '../domain/image-task/prompt-weight.ts'
import type { Size } from '../domain/shared/size.ts'
import { makeIssue, type Issue } from '../domain/shared/validate.ts'
import type { EngineName } from '../domain/task/engine.ts'
import { readTaskOptions, validateTaskOptions } from '../domain/task/task-options.ts'
import { summarise } from '../jobs/task.ts'
import type { InlineImage } from '../json-body/inline.ts'
import { respondToCreation } from './image-response.ts'
import { commitTask, createUnderNewId } from './commit-task.ts'
import type { Creation, SavedCommand } from './creation.ts'
import type { InputDeps, TaskDeps } from './deps.ts'
import { tryTask } from './dry-run.ts'
import { storeInputs, validateSource, validateUrl, type InputMember } from './inputs.ts'

/** Dependencies of making image tasks. */
export type ImageTaskDeps = TaskDeps

type Body = Record<string, unknown>
type Inline = ReadonlyMap<string, InlineImage>

/** A new image task. */
export interface MadeImage {
  id: string
  kind: ImageKind['kind']
  settings: object
  /** That of the first image, where it is known. */
  size: Size | undefined
  engine: EngineName
  /** Sentences about what takes no effect. */
  warnings: string[]
}

/** The way in which tasks of a kind are made. */
export const makeImageCreation = (deps: ImageTaskDeps, imageKind: ImageKind): Creation => {
  const { kind, path, body: schema, images, maxBytes, emptyIsAbsent } = imageKind
  return {
    path,
    schema,
    maxBytes,
    heldBytes: 1_048_576,
    images: images.map((field) => `/${field}`),
    emptyIsAbsent,
    validate: makeValidate(deps, imageKind),
    create: (command) =>
      createUnderNewId(deps, (id) => createImageTask(deps, imageKind, id, command)),
    tryOut({ body, inline, account }) {
      const members = listMembers(imageKind, body as Body)
      const { owner: quota } = deps.quotas
      // Only what brings bytes is rejected for them.
      const bytes = inline.size > 0 ? quota.bytes : Infinity
      const limits = { account, quota: { ...quota, bytes } }
      return tryTask(deps, { kind, credits: 0, members, inline, ...limits })
    },
  }
}

const listMembers = ({ images, videos = [] }: ImageKind, body: Body): InputMember[] =>
  [...images, ...videos].map((field) => ({ field, pointer: `/${field}`, value: body[field] }))

const createImageTask = async <Result>(
  deps: ImageTaskDeps,
  imageKind: ImageKind,
  id: string,
  command: SavedCommand<Result>,
): Promise<Result> => {
  const { owner, account, inline, batchId, save } = command
  const body = command.body as Body & { webhook_url?: string }
  const inputs = await storeInputs(deps, { id, members: listMembers(imageKind, body), inline })
  const { kind, segment, templateId } = imageKind
  const quota = deps.quotas.owner
  const settings = settingsOf(imageKind, body)
  const size = sizeOf(inputs)
  const webhookUrl = body.webhook_url?.trim() ?? null
  const engine = deps.engineOf(kind, owner)
  const options = { ...readTaskOptions(body), batchId }
  const row = { id, kind, segment, templateId, owner, settings, webhookUrl, engine, options }
  const isRead = kind === 'relight' && engine === 'local'
  const warnings = listRelightWarnings(isRead ? body : null)
  const summary = summariseImage(kind, owner, { inputs, size })
  const { priority } = options
  const toStart = {
    id,
    family: 'image',
    kind,
    owner,
    account,
    engine,
    batchId,
    priority,
    ...FIRST,
  } as const
  return await commitTask(deps, {
    id,
    account,
    credits: 0,
    retentionDays: quota.retentionDays,
    insert: async (sql, enqueue) => {
      const made = { id, kind, settings, size, engine, warnings }
      const saved = save(sql, { id, response: respondToCreation(deps, imageKind.tasks, made) })
      // Sent together, in this order: the start reads whether the task is admitted.
      const [result] = await Promise.all([
        saved,
        insertImageTask(sql, { ...row, inputs }, quota),
        enqueue(deps.startOf(toStart, summary), { ifAdmitted: id }),
      ])
      return result
    },
  })
}

/** The admission of a task that nothing blocks as it is made. */
const FIRST = { admission: 1, offPeak: false } as const

/** The members of a valid body that are settings of its kind. */
const settingsOf = ({ settings }: ImageKind, body: Body): object =>
  Object.fromEntries(
    Object.entries(body).filter(([name]) => Object.hasOwn(settings.properties, name)),
  )

const sizeOf = (inputs: NewTaskInput[]): Size | undefined => {
  const image = inputs.find((input) => input.field === 'image') ?? inputs[0]
  return image?.width && image.height ? { width: image.width, height: image.height } : undefined
}

const summariseImage = (
  kind: string,
  owner: string,
  { inputs, size }: { inputs: NewTaskInput[]; size: Size | undefined },
): string => {
  const source = size ? ` ${size.width}×${size.height}` : ' of a URL'
  return summarise(inputs.length === 0 ? kind : kind + source, owner)
}

/** Makes the rules of a kind that its schema cannot say. Every issue is reported; the schema's own come beside them. */
const makeValidate =
  (deps: InputDeps & Pick<TaskDeps, 'quotas'>, { kind, images, videos = [] }: ImageKind) =>
  ({ body, inline }: { body: Body; inline: Inline }): Issue[] => [
    ...images.flatMap((field) => validateImage(deps, kind, { field, body, inline })),
    ...videos.flatMap((field) => validateSource(deps, `/${field}`, body[field])),
    ...validateUrl(deps, '/webhook_url', body['webhook_url']),
    ...validatePrompt(kind, body['prompt']),
    ...validatePair(kind, body),
    ...validateTaskOptions(body, deps.quotas.owner.retentionDays),
  ]

const validateImage = (
  deps: InputDeps,
  kind: ImageKind['kind'],
  { field, body, inline }: { field: string; body: Body; inline: Inline },
): Issue[] => {
  const pointer = `/${field}`
  const image = inline.get(pointer)
  if (!image) return validateSource(deps, pointer, body[field])
  if (image.issue) return [{ field: pointer, ...image.issue }]
  const request = { kind, settings: body } as unknown as ImageRequest
  const tooLarge = field === 'image' && image.image && pixelLimitIssue(request, image.image)
  return tooLarge ? [makeIssue(pointer, tooLarge, 'pixel_limit')] : []
}

const validatePrompt = (kind: string, prompt: unknown): Issue[] =>
  kind === 'relight' && typeof prompt === 'string'
    ? parsePrompt(prompt).issues.map((sentence) => makeIssue('/prompt', sentence))
    : []

const validatePair = (kind: string, body: Body): Issue[] =>
  kind === 'relight' &&
  body['transfer_light_from_lightmap'] !== undefined &&
  body['transfer_light_from_reference_image'] !== undefined
    ? [
        makeIssue(
          '/transfer_light_from_reference_image',
          'must be absent when /transfer_light_from_lightmap is given, got both',
          'incompatible_fields',
        ),
      ]
    : []
