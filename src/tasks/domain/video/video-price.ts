import {
  AUDIO_CREDITS,
  RECOMMENDED_PROMPT_CREDITS,
  findExtendModel,
  findOffer,
  findVideoModel,
} from './video-model.ts'
import type { VideoLengths, VideoOffer } from './video-model.ts'
import type { ExtendSettings, TextToVideoSettings } from './video-defaults.ts'

/** Credits of a text-to-video task. Music, voice, style and watermark are free. */
export const textToVideoCredits = (
  settings: Pick<
    TextToVideoSettings,
    'model' | 'duration' | 'resolution' | 'off_peak' | 'is_rec' | 'audio'
  >,
): number => {
  const row = findVideoModel(settings.model)
  const offer = getOffer(row, settings)
  const price = settings.off_peak
    ? offPeakPrice(offer, settings.duration)
    : fullPrice(offer, settings.duration)
  const recommended = settings.is_rec ? RECOMMENDED_PROMPT_CREDITS : 0
  const sound = settings.audio && row?.generation !== 'q3' ? AUDIO_CREDITS : 0
  return price + recommended + sound
}

/** Credits of an extension, by the seconds that are added. */
export const extendCredits = (
  settings: Pick<ExtendSettings, 'model' | 'duration' | 'resolution'>,
): number => fullPrice(getOffer(findExtendModel(settings.model), settings), settings.duration)

interface Wanted {
  model: string
  duration: number
  resolution: string
}

const getOffer = (row: VideoLengths | undefined, wanted: Wanted): VideoOffer => {
  const offer = row && findOffer(row, wanted.duration, wanted.resolution)
  if (!offer)
    throw new Error(`${wanted.model} has no price for ${wanted.duration} s at ${wanted.resolution}`)
  return offer
}

const fullPrice = ({ price }: VideoOffer, seconds: number): number => {
  if ('task' in price) return price.task
  return seconds === 1 ? price.first : price.second + (seconds - 2) * price.further
}

const offPeakPrice = (offer: VideoOffer, seconds: number): number =>
  offer.offPeakRate === undefined
    ? Math.ceil(fullPrice(offer, seconds) / 2)
    : offer.offPeakRate * seconds
