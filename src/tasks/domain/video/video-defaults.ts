import type { ExtendBody, TextToVideoBody } from './video-body.ts'
import { DEFAULT_VIDEO_MODEL, findExtendModel, findOffer, findVideoModel } from './video-model.ts'
import type { AspectRatio, Resolution, VideoLengths } from './video-model.ts'
import { ratioOf, sizeLike } from './video-size.ts'
import type { Size } from '../../../platform/domain/size.ts'

type Defaulted =
  | 'model'
  | 'duration'
  | 'resolution'
  | 'aspect_ratio'
  | 'audio'
  | 'audio_type'
  | 'bgm'
  | 'movement_amplitude'
  | 'style'
  | 'seed'
  | 'off_peak'
  | 'is_rec'
  | 'watermark'
  | 'wm_position'

/** A text-to-video request with every default applied, and otherwise as given: what is stored, priced and echoed. */
export type TextToVideoSettings = TextToVideoBody & Required<Pick<TextToVideoBody, Defaulted>>

/** An extend request with every default applied. */
export type ExtendSettings = ExtendBody & Required<Pick<ExtendBody, 'duration' | 'resolution'>>

const SEED_MAX = 2_147_483_647

/**
 * Applies the defaults of a body that schema and rules have passed. An empty `images` becomes absent.
 * @param random uniform from 0 to below 1; draws the seed when the body has none
 */
export const applyTextToVideoDefaults = (
  body: TextToVideoBody,
  random: () => number,
): TextToVideoSettings => {
  const model = body.model ?? DEFAULT_VIDEO_MODEL
  const row = findVideoModel(model)
  return {
    ...withoutEmptyImages(body),
    model,
    ...chooseOffer(model, row, body),
    aspect_ratio: body.aspect_ratio ?? '16:9',
    audio: body.audio ?? row?.generation === 'q3',
    audio_type: body.audio_type ?? 'all',
    bgm: body.bgm ?? false,
    movement_amplitude: body.movement_amplitude ?? 'auto',
    style: body.style ?? 'general',
    seed: resolveSeed(body.seed, random),
    off_peak: body.off_peak ?? false,
    is_rec: body.is_rec ?? false,
    watermark: body.watermark ?? false,
    wm_position: body.wm_position ?? 3,
  }
}

/** Applies the defaults of an extend body that schema and rules have passed. An empty `images` becomes absent. */
export const applyExtendDefaults = (body: ExtendBody): ExtendSettings => ({
  ...withoutEmptyImages(body),
  ...chooseOffer(body.model, findExtendModel(body.model), body),
})

/** The seed given, or one from 1 to 2147483647 for none and for 0. */
export const resolveSeed = (given: number | undefined, random: () => number): number =>
  given || 1 + Math.floor(random() * SEED_MAX)

const chooseOffer = (
  model: string,
  row: VideoLengths | undefined,
  body: { duration?: number; resolution?: Resolution },
): { duration: number; resolution: Resolution } => {
  const duration = body.duration ?? row?.defaultSeconds
  const offer =
    row && duration !== undefined ? findOffer(row, duration, body.resolution) : undefined
  if (duration === undefined || !offer)
    throw new Error(`${model} does not render ${duration} s at ${body.resolution}`)
  return { duration, resolution: offer.resolution }
}

const withoutEmptyImages = <Body extends { images?: string[] }>(body: Body): Body => {
  if (body.images?.length !== 0) return body
  const { images: _, ...rest } = body
  return rest as Body
}

/** The settings that change what the local engine renders. Those without effect are left out, or have their neutral value. */
export interface EffectiveVideoSettings {
  duration: number
  resolution: Resolution
  /** Absent with a start image, whose ratio is kept. */
  aspect_ratio?: AspectRatio
  seed: number
  /** True when a recommended prompt, chosen by the seed, is drawn with; never with a start image. */
  recommended: boolean
  /** The prompt given; absent when there is none, when a recommended one replaces it, and with a start image. */
  prompt?: string
  /** Sound to make; absent: none. */
  audio_type?: NonNullable<TextToVideoBody['audio_type']>
  /** Background music; never together with `audio_type`. */
  bgm: boolean
  movement_amplitude: NonNullable<TextToVideoBody['movement_amplitude']>
  style: NonNullable<TextToVideoBody['style']>
  /** Absent: no second file. Without a URL it carries the built-in mark. */
  watermark?: { position: number; url?: string }
  meta_data?: string
}

/** Finds the settings of a text-to-video request that take effect. */
export const effectiveVideoSettings = (settings: TextToVideoSettings): EffectiveVideoSettings => {
  const generation = findVideoModel(settings.model)?.generation
  const moves = generation !== 'q2' && generation !== 'q3'
  return {
    duration: settings.duration,
    resolution: settings.resolution,
    seed: settings.seed,
    ...effectivePicture(settings),
    ...(settings.audio
      ? { audio_type: generation === 'q3' ? 'all' : settings.audio_type }
      : undefined),
    bgm: addsMusic(settings),
    movement_amplitude: moves ? settings.movement_amplitude : 'auto',
    style: moves ? settings.style : 'general',
    ...(settings.watermark ? { watermark: effectiveWatermark(settings) } : undefined),
    ...(settings.meta_data === undefined ? undefined : { meta_data: settings.meta_data }),
  }
}

const effectivePicture = ({ prompt, images, is_rec: isRec, aspect_ratio }: TextToVideoSettings) => {
  if (images !== undefined) return { recommended: false }
  const recommended = isRec || prompt === undefined
  return { recommended, aspect_ratio, ...(recommended ? undefined : { prompt }) }
}

/** Settings of a task that decide about its music; an extension has neither of the two flags. */
export interface MusicSettings {
  model: string
  duration: number
  bgm?: boolean | null
  audio?: boolean | null
}

/** True when music is added: only where no sound is made, and not at the two longest lengths of q2. */
export const addsMusic = ({ model, bgm, audio, duration }: MusicSettings): boolean => {
  const generation = findVideoModel(model)?.generation
  const isDeaf = generation === 'q3' || (generation === 'q2' && duration >= 9)
  return bgm === true && !audio && !isDeaf
}

/** Members of the record that say how the video is made. */
export type MadeVideo = Pick<EffectiveVideoSettings, 'bgm' | 'movement_amplitude' | 'style'> & {
  /** Absent while it comes from a start image that nobody has seen yet. */
  aspect_ratio?: string
}

/**
 * Finds how a video is made, whatever was asked for.
 * @param startImage its size, where there is one and it came with the request
 */
export const describeMade = (
  settings: TextToVideoSettings,
  startImage: Size | undefined,
): MadeVideo => {
  const effective = effectiveVideoSettings(settings)
  const { bgm, movement_amplitude, style, resolution } = effective
  const ratio = startImage ? ratioOf(sizeLike(resolution, startImage)) : effective.aspect_ratio
  return { bgm, movement_amplitude, style, ...(ratio !== undefined && { aspect_ratio: ratio }) }
}

const WHY_MADE_OTHERWISE = {
  aspect_ratio: 'the video has the ratio of its start image',
  bgm: 'there is no music on q3 models, on q2 models at 9 or 10 s, and with audio',
  movement_amplitude: 'q2 and q3 models decide it themselves',
  style: 'q2 and q3 models decide it themselves',
} as const satisfies Record<keyof MadeVideo, string>

/** Lists what a body asks for and the video will not have, each with the reason. */
export const listMadeOtherwise = (
  body: TextToVideoBody,
  startImage: Size | undefined,
): { name: keyof MadeVideo; value: unknown; reason: string }[] => {
  const made = describeMade(
    applyTextToVideoDefaults(body, () => 0),
    startImage,
  )
  return (['aspect_ratio', 'bgm', 'movement_amplitude', 'style'] as const).flatMap((name) =>
    (body[name] ?? made[name]) === made[name]
      ? []
      : [{ name, value: body[name], reason: WHY_MADE_OTHERWISE[name] }],
  )
}

const effectiveWatermark = (settings: TextToVideoSettings) => ({
  position: settings.wm_position,
  ...(settings.wm_url === undefined ? undefined : { url: settings.wm_url }),
})
