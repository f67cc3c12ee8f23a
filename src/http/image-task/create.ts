import { withinDeadline } from '../../db/client.ts'
import { insertImageTask } from '../../db/image-task/image-task.ts'
import { toQuotaError } from '../../db/task/account.ts'
import type { NewTaskInput } from '../../db/task/task-file.ts'
import { estimateSeconds, pixelLimitIssue, resultSize } from '../../domain/image-task/image-size.ts'
import { listRelightWarnings } from '../../domain/image-task/prompt-light.ts'
import type { ImageKind, ImageRequest } from '../../domain/image-task/image-kind.ts'
import type { Size } from '../../domain/shared/size.ts'
import type { EngineName } from '../../domain/task/engine.ts'
import type { RenderTiming } from '../../domain/task/render-timing.ts'
import { readTaskOptions, validateTaskOptions } from '../../domain/task/task-options.ts'
import { startFacts, startImageTask } from '../../jobs/task.ts'
import { getCaller } from '../access/caller.ts'
import type { JsonResponse, RouteRequest, SavedResponse } from '../route.ts'
import { commitTask, createUnderNewId, summarise } from '../task/commit-task.ts'
import type { InputDeps, TaskDeps } from '../task/deps.ts'
import { respondToDryRun } from '../task/dry-run.ts'
import { validateSource, validateUrl, storeInputs, type InputMember } from '../task/inputs.ts'
import { parsePrompt } from '../../domain/image-task/prompt-weight.ts'
import { makeIssue, type Issue } from '../../domain/shared/validate.ts'
import type { InlineImage } from '../body/inline.ts'

/** Dependencies of the routes on which image tasks are made. */
export interface ImageTaskDeps extends TaskDeps {
  timing: RenderTiming
  /** Finds who renders the tasks of a kind that are made from now on. */
  engineOf(kind: string, owner: string): EngineName
}

/** Makes the handler that turns a valid body of a kind into a durable task. */
export const makeCreation =
  (deps: ImageTaskDeps, kind: ImageKind) =>
  (request: RouteRequest): Promise<SavedResponse> => {
    const members = listMembers(kind, request.body as Record<string, unknown>)
    return createUnderNewId(deps, async (id) => {
      const inputs = await storeInputs(deps, { id, members, inline: request.inline })
      return await createTask(deps, kind, { id, request, inputs })
    })
  }

/** Makes the handler of the same request's dry run. */
export const makeDryRun =
  (deps: ImageTaskDeps, kind: ImageKind) =>
  (request: RouteRequest): Promise<JsonResponse> => {
    const members = listMembers(kind, request.body as Record<string, unknown>)
    const { owner: account } = getCaller(request)
    const { owner: quota } = deps.quotas
    // Only what brings bytes is rejected for them.
    const bytes = request.inline.size > 0 ? quota.bytes : Infinity
    const limits = { account, quota: { ...quota, bytes } }
    return respondToDryRun(deps, request, { kind: kind.kind, credits: 0, members, ...limits })
  }

const listMembers = (
  { images, videos = [] }: ImageKind,
  body: Record<string, unknown>,
): InputMember[] =>
  [...images, ...videos].map((field) => ({ field, pointer: `/${field}`, value: body[field] }))

interface NewTask {
  id: string
  request: RouteRequest
  inputs: NewTaskInput[]
}

const createTask = async (
  deps: ImageTaskDeps,
  imageKind: ImageKind,
  { id, request, inputs }: NewTask,
): Promise<SavedResponse> => {
  const { owner } = getCaller(request)
  const { kind, segment, templateId } = imageKind
  const quota = deps.quotas.owner
  const settings = settingsOf(imageKind, request.body as Record<string, unknown>)
  const size = sizeOf(inputs)
  const webhookUrl = (request.body as { webhook_url?: string }).webhook_url?.trim() ?? null
  const engine = deps.engineOf(kind, owner)
  const options = readTaskOptions(request.body as Record<string, unknown>)
  const made = { id, kind, segment, templateId, owner, settings, webhookUrl, engine, options }
  const task = { ...made, inputs }
  const isRead = kind === 'relight' && engine === 'local'
  const warnings = listRelightWarnings(isRead ? (request.body as Record<string, unknown>) : null)
  const result = makeResponse(deps, { imageKind, settings, id, size, warnings, engine })
  const said = summary(kind, owner, { inputs, size })
  const facts = { taskId: id, kind, owner, engine, summary: said, ...startFacts(options) }
  return await commitTask(deps, {
    id,
    start: startImageTask(facts, deps),
    insert: async (sql) => {
      const saved = request.saveIdempotentResponse(sql, result)
      const [response] = await Promise.all([saved, insertImageTask(sql, task, quota)])
      return response
    },
  }).catch(async (error: unknown) => {
    throw await withinDeadline(deps.sql, toQuotaError(deps.sql, error, { account: owner, quota }))
  })
}

/** The members of a valid body that are settings of its kind. */
const settingsOf = ({ settings }: ImageKind, body: Record<string, unknown>): object =>
  Object.fromEntries(
    Object.entries(body).filter(([name]) => Object.hasOwn(settings.properties, name)),
  )

const sizeOf = (inputs: NewTaskInput[]): Size | undefined => {
  const image = inputs.find((input) => input.field === 'image') ?? inputs[0]
  return image?.width && image.height ? { width: image.width, height: image.height } : undefined
}

const makeResponse = (
  { publicUrl }: Pick<ImageTaskDeps, 'publicUrl'>,
  {
    imageKind: { kind, tasks },
    settings,
    id,
    size,
    warnings,
    engine,
  }: {
    imageKind: ImageKind
    settings: object
    id: string
    size: Size | undefined
    warnings: string[]
    engine: EngineName
  },
): JsonResponse => ({
  status: 200,
  body: {
    data: {
      task_id: id,
      status: 'CREATED',
      generated: [],
      ...(warnings.length > 0 && { warnings }),
    },
  },
  headers: {
    location: `${publicUrl}${tasks}/${id}`,
    'x-credits-used': '0',
    ...(engine === 'local' && {
      'x-estimated-duration-seconds': estimate({ kind, settings } as ImageRequest, size),
    }),
  },
})

const estimate = (image: ImageRequest, size: Size | undefined): string =>
  String(estimateSeconds(image.kind, size && megapixels(image, size)))

const megapixels = (image: ImageRequest, size: Size): number => {
  const { width, height } = resultSize(image, size)
  return (width * height) / 1_000_000
}

const summary = (
  kind: string,
  owner: string,
  { inputs, size }: { inputs: NewTaskInput[]; size: Size | undefined },
): string => {
  const source = size ? ` ${size.width}×${size.height}` : ' of a URL'
  return summarise(inputs.length === 0 ? kind : kind + source, owner)
}

type Body = Record<string, unknown>
type Inline = ReadonlyMap<string, InlineImage>

/** Makes the rules of a kind that its schema cannot say. Every issue is reported; the schema's own come beside them. */
export const makeValidate =
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
