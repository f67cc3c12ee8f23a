import { insertImageTask } from '../../db/image-task/image-task.ts'
import { toQuotaError } from '../../db/task/account.ts'
import type { NewTaskInput } from '../../db/task/task-file.ts'
import { estimateSeconds, pixelLimitFault, resultSize } from '../../domain/image-task/image-size.ts'
import { IMAGE_KINDS, IMAGE_PREFIX } from '../../domain/image-task/image-kind.ts'
import type { ImageRequest, ImageTaskKind } from '../../domain/image-task/image-kind.ts'
import type { Size } from '../../domain/shared/size.ts'
import type { EngineName } from '../../domain/task/engine.ts'
import type { RenderTiming } from '../../domain/task/render-timing.ts'
import { startImageTask } from '../../jobs/task.ts'
import { getCaller } from '../access/caller.ts'
import type { JsonAnswer, RouteRequest, SavedAnswer } from '../route.ts'
import { commitTask, createUnderNewId, summarise } from '../task/commit-task.ts'
import type { InputDeps, TaskDeps } from '../task/deps.ts'
import { answerDryRun } from '../task/dry-run.ts'
import { judgeSource, judgeUrl, storeInputs } from '../task/inputs.ts'
import type { InputMember } from '../task/inputs.ts'
import { parsePrompt } from '../../domain/image-task/prompt-weight.ts'
import type { Fault } from '../../domain/shared/validate.ts'
import type { InlineImage } from '../body/inline.ts'

/** What the routes of image tasks work with. */
export interface ImageTaskDeps extends TaskDeps {
  timing: RenderTiming
  /** IMAGE_ENGINE: who renders the tasks that are made from now on. */
  imageEngine: EngineName
}

/** Makes the handler that turns a valid body of a kind into a durable task. */
export const makeCreation =
  (deps: ImageTaskDeps, kind: ImageTaskKind) =>
  (request: RouteRequest): Promise<SavedAnswer> => {
    const members = listMembers(kind, request.body as Record<string, unknown>)
    return createUnderNewId(deps, async (id) => {
      const inputs = await storeInputs(deps, { id, members, inline: request.inline })
      return await createTask(deps, kind, { id, request, inputs })
    })
  }

/** Makes the handler of the same request's dry run. */
export const makeDryRun =
  (deps: ImageTaskDeps, kind: ImageTaskKind) =>
  (request: RouteRequest): Promise<JsonAnswer> => {
    const members = listMembers(kind, request.body as Record<string, unknown>)
    const { owner: account } = getCaller(request)
    const { owner: quota } = deps.quotas
    // Only what brings bytes is refused for them.
    const bytes = request.inline.size > 0 ? quota.bytes : Infinity
    const limits = { account, quota: { ...quota, bytes } }
    return answerDryRun(deps, request, { kind, credits: 0, members, ...limits })
  }

const listMembers = (kind: ImageTaskKind, body: Record<string, unknown>): InputMember[] =>
  IMAGE_KINDS[kind].images.map((field) => ({ field, pointer: `/${field}`, value: body[field] }))

interface NewTask {
  id: string
  request: RouteRequest
  inputs: NewTaskInput[]
}

const createTask = async (
  deps: ImageTaskDeps,
  kind: ImageTaskKind,
  { id, request, inputs }: NewTask,
): Promise<SavedAnswer> => {
  const { owner } = getCaller(request)
  const quota = deps.quotas.owner
  const settings = settingsOf(kind, request.body as Record<string, unknown>)
  const size = sizeOf(inputs)
  const answer = makeAnswer(deps, { kind, settings } as ImageRequest, { id, size })
  const webhookUrl = (request.body as { webhook_url?: string }).webhook_url ?? null
  const { imageEngine: engine } = deps
  const segment = IMAGE_KINDS[kind].family
  const task = { id, kind, segment, owner, settings, webhookUrl, engine, inputs }
  const facts = { taskId: id, kind, owner, engine, summary: summary(kind, owner, size) }
  return await commitTask(deps, {
    id,
    start: startImageTask(facts, deps),
    insert: async (sql) => {
      const saved = request.saveIdempotentResponse(sql, answer)
      const [response] = await Promise.all([saved, insertImageTask(sql, task, quota)])
      return response
    },
  }).catch((error: unknown) => {
    throw toQuotaError(error, quota)
  })
}

/** The members of a valid body that are settings of its kind. */
const settingsOf = (kind: ImageTaskKind, body: Record<string, unknown>): object => {
  const { properties } = IMAGE_KINDS[kind].settings
  return Object.fromEntries(
    Object.entries(body).filter(([name]) => Object.hasOwn(properties, name)),
  )
}

const sizeOf = (inputs: NewTaskInput[]): Size | undefined => {
  const image = inputs.find((input) => input.field === 'image')
  return image?.width && image.height ? { width: image.width, height: image.height } : undefined
}

const makeAnswer = (
  { publicUrl, imageEngine }: Pick<ImageTaskDeps, 'publicUrl' | 'imageEngine'>,
  image: ImageRequest,
  { id, size }: { id: string; size: Size | undefined },
): JsonAnswer => ({
  status: 200,
  body: { data: { task_id: id, status: 'CREATED', generated: [] } },
  headers: {
    location: `${publicUrl}${IMAGE_PREFIX}/${IMAGE_KINDS[image.kind].family}/${id}`,
    'x-credits-used': '0',
    ...(imageEngine === 'local' && {
      'x-estimated-duration-seconds': String(
        estimateSeconds(image.kind, size && megapixels(image, size)),
      ),
    }),
  },
})

const megapixels = (image: ImageRequest, size: Size): number => {
  const { width, height } = resultSize(image, size)
  return (width * height) / 1_000_000
}

const summary = (kind: string, owner: string, size: Size | undefined): string =>
  summarise(`${kind} ${size ? `${size.width}×${size.height}` : 'of a URL'}`, owner)

type Body = Record<string, unknown>
type Inline = ReadonlyMap<string, InlineImage>

/** Makes the rules of a kind that its schema cannot say. Every fault is told; the schema's own come beside them. */
export const makeJudge =
  (deps: InputDeps, kind: ImageTaskKind) =>
  ({ body, inline }: { body: Body; inline: Inline }): Fault[] => [
    ...IMAGE_KINDS[kind].images.flatMap((field) => judgeImage(deps, kind, { field, body, inline })),
    ...judgeUrl(deps, '/webhook_url', body['webhook_url']),
    ...judgePrompt(kind, body['prompt']),
    ...judgePair(body),
  ]

const judgeImage = (
  deps: InputDeps,
  kind: ImageTaskKind,
  { field, body, inline }: { field: string; body: Body; inline: Inline },
): Fault[] => {
  const pointer = `/${field}`
  const image = inline.get(pointer)
  if (!image) return judgeSource(deps, pointer, body[field])
  if (image.fault) return [{ field: pointer, ...image.fault }]
  const request = { kind, settings: body } as unknown as ImageRequest
  const tooLarge = field === 'image' && image.image && pixelLimitFault(request, image.image)
  return tooLarge
    ? [{ field: pointer, code: 'pixel_limit', message: `${pointer} ${tooLarge}` }]
    : []
}

const judgePrompt = (kind: ImageTaskKind, prompt: unknown): Fault[] =>
  kind === 'relight' && typeof prompt === 'string'
    ? parsePrompt(prompt).faults.map((sentence) => ({
        field: '/prompt',
        code: 'validation_failed',
        message: `/prompt ${sentence}`,
      }))
    : []

const judgePair = (body: Body): Fault[] =>
  body['transfer_light_from_lightmap'] !== undefined &&
  body['transfer_light_from_reference_image'] !== undefined
    ? [
        {
          field: '/transfer_light_from_reference_image',
          code: 'incompatible_fields',
          message:
            '/transfer_light_from_reference_image must be absent when /transfer_light_from_lightmap is given, got both',
        },
      ]
    : []
