import type { AccountLimits } from '../db/task/account.ts'
import type { NewTaskInput } from '../db/task/task-file.ts'
import { admitOwner } from '../db/task/admission.ts'
import { unitOfWork } from '../db/unit-of-work.ts'
import { insertVideoTask } from '../db/video-task/video-task.ts'
import { ANONYMOUS } from '../domain/shared/account.ts'
import type { EngineName } from '../domain/task/engine.ts'
import { readTaskOptions } from '../domain/task/task-options.ts'
import { END_IMAGE } from '../domain/video-task/end-image.ts'
import type { ExtendBody, TextToVideoBody } from '../domain/video-task/video-body.ts'
import {
  ExtendInput,
  TextToVideoInput,
  VIDEO_BODY_MAX_BYTES,
  VIDEO_EMPTY_IS_ABSENT,
} from '../domain/video-task/video-input.ts'
import { VIDEO_PREFIX } from '../domain/video-task/video-path.ts'
import { generatedKind, type VideoTaskKind } from '../domain/video-task/video-task.ts'
import type { ExtendSource } from '../domain/video-task/video-validation.ts'
import { respondToCreation } from './video-response.ts'
import { commitTask, createUnderNewId } from './commit-task.ts'
import type { Creation, SavedCommand, TaskCommand } from './creation.ts'
import type { TaskDeps } from './deps.ts'
import { tryTask } from './dry-run.ts'
import { storeInputs, type InputMember } from './inputs.ts'
import { planExtend, planTextToVideo, type VideoPlan } from './plan-video.ts'
import {
  END_IMAGE_POINTER,
  IMAGE_POINTER,
  listIneffective,
  validateExtendBody,
  validateTextToVideoBody,
} from './validate-video.ts'
import { findSourceVideo } from './video-source.ts'

/** Dependencies of making video tasks. */
export interface VideoTaskDeps extends TaskDeps {
  /** From the creation of an off-peak task until it fails. */
  offPeakSeconds: number
  /** VIDEO_AUTH: whether a credential is needed. */
  videoAuth: 'optional' | 'required'
  /** VIDEO_EXTEND_SOURCE */
  extendSource: ExtendSource
  /** Most credits of an account, charges minus refunds; undefined: no limit. */
  creditLimit: number | undefined
}

/** A new video task. */
export interface MadeVideo {
  id: string
  kind: VideoTaskKind
  plan: VideoPlan
  inputs: readonly NewTaskInput[]
  payload: string | null
  engine: EngineName
  createdAt: Date
}

/** Limits of a body with one image. A payload of escaped pairs is 12 MiB on the wire, and 4 MiB of UTF-8. */
const FORM = {
  maxBytes: VIDEO_BODY_MAX_BYTES,
  heldBytes: 16 * 2 ** 20,
  images: ['/images/*'],
  maxImages: 1,
  emptyIsAbsent: VIDEO_EMPTY_IS_ABSENT,
  unread: 'ignored',
  // The record may hold a signed link.
  secretResponse: true,
  echo: 'payload',
} as const

/** The way in which videos are made of a prompt, or of so many images: the first frame, and the last. */
const makeTextToVideoCreation = (deps: VideoTaskDeps, name: string, frames?: 1 | 2): Creation => ({
  ...FORM,
  path: `${VIDEO_PREFIX}/${name}`,
  schema: TextToVideoInput,
  maxImages: frames ?? 1,
  maxBytes: VIDEO_BODY_MAX_BYTES * (frames ?? 1),
  validate: validateTextToVideoBody(deps, frames),
  listIneffective,
  create: (command) => {
    const body = command.body as TextToVideoBody
    const members = listMembers(body)
    return createUnderNewId(deps, async (id) => {
      const inputs = await storeInputs(deps, { id, members, inline: command.inline })
      const plan = planTextToVideo(body, inputs)
      return await createVideoTask(deps, command, { id, kind: kindOf(body), plan, inputs })
    })
  },
  tryOut(command) {
    const body = command.body as TextToVideoBody
    const { credits } = planTextToVideo(body, [])
    return tryVideo(deps, command, { kind: kindOf(body), credits, members: listMembers(body) })
  },
})

/** The way in which a video is made longer. */
const makeExtendCreation = (deps: VideoTaskDeps): Creation => ({
  ...FORM,
  path: `${VIDEO_PREFIX}/extend`,
  schema: ExtendInput,
  validate: validateExtendBody(deps),
  async create(command) {
    const { source, members } = await findInputs(deps, command)
    const plan = planExtend(command.body as ExtendBody)
    return await createUnderNewId(deps, async (id) => {
      const stored = await storeInputs(deps, { id, members, inline: command.inline })
      const inputs = source ? [...stored, source] : stored
      return await createVideoTask(deps, command, { id, kind: 'extend', plan, inputs })
    })
  },
  async tryOut(command) {
    const { members } = await findInputs(deps, command)
    const { credits } = planExtend(command.body as ExtendBody)
    return await tryVideo(deps, command, { kind: 'extend', credits, members })
  },
})

/** The ways in which video tasks are made. */
export const makeVideoCreations = (deps: VideoTaskDeps) => ({
  text2video: makeTextToVideoCreation(deps, 'text2video'),
  img2video: makeTextToVideoCreation(deps, 'img2video', 1),
  startEnd2video: makeTextToVideoCreation(deps, 'start-end2video', 2),
  extend: makeExtendCreation(deps),
})

/** The video that is made longer, where it is a result of the owner's, and the members that name other files. */
const findInputs = async (
  deps: Pick<VideoTaskDeps, 'sql'>,
  { owner, body: given }: TaskCommand,
) => {
  const body = given as ExtendBody
  const source = await findSourceVideo(deps, owner, body)
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
  { owner, apiKeyId }: TaskCommand,
): AccountLimits => ({
  creditLimit,
  quota: quotas[owner === ANONYMOUS ? 'address' : 'owner'],
  apiKeyId,
})

const tryVideo = (
  deps: VideoTaskDeps,
  command: TaskCommand,
  attempt: { kind: VideoTaskKind; credits: number; members: InputMember[] },
) => {
  const { account, inline, body } = command
  const bytes = Buffer.byteLength((body as ExtendBody).payload ?? '')
  return tryTask(deps, { ...attempt, inline, account, bytes, ...limitsOf(deps, command) })
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

const createVideoTask = async <Result>(
  deps: VideoTaskDeps,
  command: SavedCommand<Result>,
  task: Pick<MadeVideo, 'id' | 'kind' | 'plan' | 'inputs'>,
): Promise<Result> => {
  const { id, kind, plan, inputs } = task
  const { offPeakSeconds } = deps
  const { owner, account, batchId } = command
  const body = command.body as ExtendBody
  const { payload = null } = body
  const callbackUrl = body.callback_url?.trim() ?? null
  const engine = deps.engineOf(kind, owner)
  const options = { ...readTaskOptions(body), batchId }
  const given = { payload, callbackUrl, engine, options, inputs, offPeakSeconds }
  const row = { id, kind, owner, account, ...plan, ...given }
  const limits = limitsOf(deps, command)
  const isShared = owner === ANONYMOUS
  const result = await commitTask(deps, {
    id,
    account,
    credits: plan.credits,
    retentionDays: limits.quota?.retentionDays,
    insert: async (sql, enqueue) => {
      // Sent together, in this order: the lock of the owner, whom all of its tasks need, is the last.
      const [createdAt] = await Promise.all([
        insertVideoTask(sql, row, limits),
        isShared || admitOwner(sql, { ...deps, owner, enqueue }),
      ])
      const response = respondToCreation(deps, { ...task, payload, engine, createdAt })
      return await command.save(sql, { id, response })
    },
  })
  // The lock of all who have no credential is taken for a moment. What is lost here, the next pass admits.
  if (isShared)
    await unitOfWork(deps, (sql, enqueue) => admitOwner(sql, { ...deps, owner, enqueue })).catch(
      () => {},
    )
  return result
}

const kindOf = ({ images = [] }: TextToVideoBody): VideoTaskKind => generatedKind(images.length)
