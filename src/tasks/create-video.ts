import { ANONYMOUS } from '../platform/domain/account.ts'
import { END_IMAGE } from './domain/video/end-image.ts'
import type { ExtendBody, TextToVideoBody } from './domain/video/video-body.ts'
import {
  ExtendInput,
  TextToVideoInput,
  VIDEO_BODY_MAX_BYTES,
  VIDEO_EMPTY_IS_ABSENT,
} from './domain/video/video-input.ts'
import { VIDEO_PREFIX } from './domain/video/video-path.ts'
import { listPromptWarnings } from './domain/video/video-prompt.ts'
import { generatedKind, videoSegment, type VideoTaskKind } from './domain/video/video-task.ts'
import type { ExtendSource } from './domain/video/video-validation.ts'
import { listLateInputs } from './domain/late-input.ts'
import { respondToCreation } from './video-response.ts'
import { findUpstreamMembers } from './creation.ts'
import type { Creation, TaskCommand, TaskPlan } from './creation.ts'
import type { TaskDeps } from './deps.ts'
import type { InputMember } from './inputs.ts'
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

/** Limits of a body with one image. A payload of escaped pairs is 12 MiB on the wire, and 4 MiB of UTF-8. */
const FORM = {
  maxBytes: VIDEO_BODY_MAX_BYTES,
  memoryBytes: 16 * 2 ** 20,
  images: ['/images/*'],
  maxImages: 1,
  emptyIsAbsent: VIDEO_EMPTY_IS_ABSENT,
  unread: 'ignored',
  // The record may hold a signed link.
  secretResponse: true,
  echo: 'payload',
} as const

const placeOf = (deps: VideoTaskDeps, kind: string) => {
  const path = `${VIDEO_PREFIX}/${kind}`
  return { path, findMembers: () => findUpstreamMembers(deps, { kind, path }) }
}

/** The way in which videos are made of a prompt, or of so many images: the first frame, and the last. */
const makeTextToVideoCreation = (deps: VideoTaskDeps, name: string, frames?: 1 | 2): Creation => ({
  ...FORM,
  ...placeOf(deps, name),
  schema: TextToVideoInput,
  maxImages: frames ?? 1,
  maxBytes: VIDEO_BODY_MAX_BYTES * (frames ?? 1),
  validate: validateTextToVideoBody(deps, frames),
  listIneffective,
  plan(command) {
    const body = command.body as TextToVideoBody
    const kind = generatedKind(body.images?.length ?? 0)
    const members = [
      imageOf(body),
      member(END_IMAGE, body.images?.[1], END_IMAGE_POINTER),
      ...(body.watermark ? [member('wm_url', body.wm_url)] : []),
    ]
    const plan = { kind, members, video: planTextToVideo(body), warnings: listPromptWarnings(body) }
    return planVideo(deps, command, plan)
  },
})

/** The way in which a video is made longer. */
const makeExtendCreation = (deps: VideoTaskDeps): Creation => ({
  ...FORM,
  ...placeOf(deps, 'extend'),
  schema: ExtendInput,
  validate: validateExtendBody(deps),
  async plan(command) {
    const body = command.body as ExtendBody
    // A result of the owner's, where one is named.
    const source = await findSourceVideo(deps, command.owner, body)
    const members = [imageOf(body), ...(source ? [] : [member('video_url', body.video_url)])]
    const video = planExtend(body)
    return { ...planVideo(deps, command, { kind: 'extend', members, video }), source }
  },
})

/** The ways in which video tasks are made. */
export const makeVideoCreations = (deps: VideoTaskDeps) => ({
  text2video: makeTextToVideoCreation(deps, 'text2video'),
  img2video: makeTextToVideoCreation(deps, 'img2video', 1),
  startEnd2video: makeTextToVideoCreation(deps, 'start-end2video', 2),
  extend: makeExtendCreation(deps),
})

interface VideoToPlan {
  kind: VideoTaskKind
  members: InputMember[]
  video: VideoPlan
  /** Sentences about what may surprise. */
  warnings?: string[]
}

const planVideo = (
  deps: VideoTaskDeps,
  { owner, apiKeyId, isKeyCapped, body: given }: TaskCommand,
  { kind, members, video, warnings = [] }: VideoToPlan,
): TaskPlan => {
  const body = given as ExtendBody
  const payload = body.payload ?? null
  const { settings, credits, offPeak } = video
  return {
    family: 'video',
    kind,
    segment: videoSegment(kind),
    settings,
    webhookUrl: body.callback_url?.trim() ?? null,
    payload,
    credits,
    offPeakSeconds: offPeak ? deps.offPeakSeconds : undefined,
    members,
    limits: {
      creditLimit: deps.creditLimit,
      quota: deps.quotas[owner === ANONYMOUS ? 'address' : 'owner'],
      apiKeyId: isKeyCapped ? apiKeyId : undefined,
    },
    respond: async (made) =>
      respondToCreation(deps, {
        ...made,
        kind,
        video,
        payload,
        warnings: [...warnings, ...listLateInputs(body, made.inputs)],
        createdAt: await made.createdAt,
      }),
  }
}

const member = (field: string, value: unknown, pointer = `/${field}`): InputMember => ({
  field,
  pointer,
  value,
})

const imageOf = ({ images }: { images?: string[] }): InputMember =>
  member('images', images?.[0], IMAGE_POINTER)
