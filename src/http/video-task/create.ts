import { Value } from 'typebox/value'

import type { NewTaskInput } from '../../db/task/task-file.ts'
import { insertVideoTask } from '../../db/video-task/video-task.ts'
import type { ExtendBody, TextToVideoBody } from '../../domain/video-task/video-body.ts'
import { ExtendRecord, TextToVideoRecord } from '../../domain/video-task/video-task.ts'
import { END_IMAGE } from '../../domain/video-task/end-image.ts'
import type { EngineName } from '../../domain/task/engine.ts'
import { generatedKind } from '../../domain/video-task/video-task.ts'
import type { VideoTaskKind } from '../../domain/video-task/video-task.ts'
import { readTaskOptions } from '../../domain/task/task-options.ts'
import { startFacts, startVideoTask } from '../../jobs/task.ts'
import { ownerOf } from '../access/caller.ts'
import type { JsonResponse, RouteRequest, SavedResponse } from '../route.ts'
import { commitTask, createUnderNewId, summarise } from '../task/commit-task.ts'
import { respondToDryRun } from '../task/dry-run.ts'
import { storeInputs, type InputMember } from '../task/inputs.ts'
import { VIDEO_PREFIX } from '../../domain/video-task/video-path.ts'
import type { VideoTaskDeps } from './deps.ts'
import { END_IMAGE_POINTER, IMAGE_POINTER } from './validate.ts'
import { planExtend, planTextToVideo, type VideoPlan } from './plan.ts'
import { findSourceVideo } from './source.ts'
import type { TaskReadDeps } from '../task/deps.ts'
import type { ReadDeps } from '../deps.ts'

/** Makes the handler that turns a valid text-to-video body into a durable task. */
export const makeTextToVideoCreation =
  (deps: VideoTaskDeps) =>
  (request: RouteRequest): Promise<SavedResponse> => {
    const body = request.body as TextToVideoBody
    const members = listMembers(body)
    return createUnderNewId(deps, async (id) => {
      const inputs = await storeInputs(deps, { id, members, inline: request.inline })
      const plan = planTextToVideo(body, inputs)
      return await createTask(deps, request, { id, kind: kindOf(body), plan, inputs })
    })
  }

/** Makes the handler of the same request's dry run. */
export const makeTextToVideoDryRun =
  (deps: VideoTaskDeps) =>
  (request: RouteRequest): Promise<JsonResponse> => {
    const body = request.body as TextToVideoBody
    const { credits } = planTextToVideo(body, [])
    const attempted = { kind: kindOf(body), credits, members: listMembers(body) }
    return respondToVideoDryRun(deps, request, attempted)
  }

/** Makes the handler that turns a valid extend body into a durable task. */
export const makeExtendCreation =
  (deps: VideoTaskDeps) =>
  async (request: RouteRequest): Promise<SavedResponse> => {
    const body = request.body as ExtendBody
    const { source, members } = await findInputs(deps, request)
    const plan = planExtend(body)
    return await createUnderNewId(deps, async (id) => {
      const stored = await storeInputs(deps, { id, members, inline: request.inline })
      const inputs = source ? [...stored, source] : stored
      return await createTask(deps, request, { id, kind: 'extend', plan, inputs })
    })
  }

/** Makes the handler of the same request's dry run. */
export const makeExtendDryRun =
  (deps: VideoTaskDeps) =>
  async (request: RouteRequest): Promise<JsonResponse> => {
    const { members } = await findInputs(deps, request)
    const { credits } = planExtend(request.body as ExtendBody)
    return await respondToVideoDryRun(deps, request, { kind: 'extend', credits, members })
  }

/** The video that is made longer, where it is a result of the owner's, and the members that name other files. */
const findInputs = async (deps: ReadDeps, request: RouteRequest) => {
  const body = request.body as ExtendBody
  const source = await findSourceVideo(deps, ownerOf(request), body)
  const members = [imageOf(body), ...(source ? [] : [member('video_url', body.video_url)])]
  return { source, members }
}

const listMembers = (body: TextToVideoBody): InputMember[] => [
  imageOf(body),
  endImageOf(body),
  ...(body.watermark ? [member('wm_url', body.wm_url)] : []),
]

const limitsOf = (
  { creditLimit, quotas }: Pick<VideoTaskDeps, 'creditLimit' | 'quotas'>,
  { caller }: RouteRequest,
) => ({
  creditLimit,
  quota: quotas[caller ? 'owner' : 'address'],
  apiKeyId: caller?.keyLimits?.isCapped ? caller.keyId : undefined,
})

const respondToVideoDryRun = (
  deps: VideoTaskDeps,
  request: RouteRequest,
  { kind, credits, members }: { kind: VideoTaskKind; credits: number; members: InputMember[] },
): Promise<JsonResponse> => {
  const { payload = '' } = request.body as ExtendBody
  const account = request.account()
  const bytes = Buffer.byteLength(payload)
  const limits = limitsOf(deps, request)
  return respondToDryRun(deps, request, { kind, credits, members, account, bytes, ...limits })
}

const member = (field: string, value: unknown, pointer = `/${field}`): InputMember => ({
  field,
  pointer,
  value,
})

const imageOf = ({ images }: { images?: string[] }): InputMember =>
  member('images', images?.[0], IMAGE_POINTER)

/** The last frame, beside a first one. */
const endImageOf = ({ images }: { images?: string[] }): InputMember =>
  member(END_IMAGE, images?.[1], END_IMAGE_POINTER)

interface NewTask {
  id: string
  kind: VideoTaskKind
  plan: VideoPlan
  inputs: readonly NewTaskInput[]
}

const createTask = async (
  deps: VideoTaskDeps,
  request: RouteRequest,
  task: NewTask,
): Promise<SavedResponse> => {
  const { id, kind, inputs } = task
  const { settings, offPeak } = task.plan
  const owner = ownerOf(request)
  const account = request.account()
  const { payload = null, callback_url } = request.body as ExtendBody
  const callbackUrl = callback_url?.trim() ?? null
  const summary = summarise(`${kind} ${settings.resolution} ${settings.duration} s`, owner)
  const engine = deps.engineOf(kind, owner)
  const options = readTaskOptions(request.body as ExtendBody)
  const row = {
    id,
    kind,
    owner,
    account,
    ...task.plan,
    payload,
    callbackUrl,
    engine,
    options,
    inputs,
  }
  const facts = { taskId: id, kind, owner, account, engine, summary, offPeak }
  return await commitTask(deps, {
    id,
    start: startVideoTask({ ...facts, ...startFacts(options) }, deps),
    insert: async (sql) => {
      const createdAt = await insertVideoTask(sql, row, limitsOf(deps, request))
      const response = makeResponse(deps, task, { createdAt, payload, engine })
      return await request.saveIdempotentResponse(sql, response)
    },
  })
}

const kindOf = ({ images = [] }: TextToVideoBody): VideoTaskKind => generatedKind(images.length)

const makeResponse = (
  deps: VideoTaskDeps,
  { id, kind, plan, inputs }: NewTask,
  { createdAt, payload, engine }: { createdAt: Date; payload: string | null; engine: EngineName },
): JsonResponse => {
  const images = listImages(deps, id, inputs)
  const record = {
    task_id: id,
    state: 'created',
    credits: plan.credits,
    created_at: createdAt.toISOString(),
    ...plan.settings,
    ...(plan.made && { aspect_ratio: undefined, ...plan.made }),
    ...(images.length > 0 && { images }),
    ...(payload !== null && { payload }),
  }
  return {
    status: 200,
    // A record has only some of the settings.
    body: Value.Clean(kind === 'extend' ? ExtendRecord : TextToVideoRecord, record),
    headers: {
      location: `${deps.publicUrl}${VIDEO_PREFIX}/tasks/${id}/creations`,
      'x-credits-used': String(plan.credits),
      ...(engine === 'local' && {
        'x-estimated-duration-seconds': String(plan.estimate),
      }),
    },
  }
}

/** URLs as given; of an inline image a signed link to its stored copy. */
const listImages = (
  { signer, now }: TaskReadDeps,
  id: string,
  inputs: readonly NewTaskInput[],
): string[] =>
  inputs
    .filter(({ field }) => field === 'images' || field === END_IMAGE)
    .map(({ url, name }) => url ?? signer.signFile(id, name ?? '', now()))
