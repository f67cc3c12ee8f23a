import type { Size } from '../../size.ts'
import type { ImageJob } from '../../image-job.ts'
import type { PromptLight, RelightSettings } from '../../image-settings.ts'
import { claheStage } from '../clahe.ts'
import { blend, screen, softFocusStage } from '../colour-blur.ts'
import type { Stage } from '../stage.ts'
import { LIGHT_CHARACTERS, LIGHT_SHAPES, LIGHT_STRENGTH } from './tables.ts'
import {
  brightnessStage,
  channelStage,
  contrastStage,
  endsStage,
  curveStage,
  gammaStage,
  levelsStage,
  mixStage,
  posteriseStage,
  sCurveStage,
  saturationStage,
} from '../tone.ts'
import { blurLight, type LightPlanes } from './light-map.ts'
import { ditherStage, keepDetailStage, lightStage } from './light-stage.ts'

/** A picture whose light is taken over, and how much of it is light: its blur in per cent of the longer side. */
export interface WantedLight {
  planes: LightPlanes
  blur: number
}

/** blur(x) of a lightmap, and of a reference picture, whose things must not show as light. */
export const LIGHTMAP_BLUR = 2
export const REFERENCE_BLUR = 6

interface RelightJob {
  settings: RelightSettings
  light?: ImageJob['light']
}

/** The light of a prompt that asks for none. */
const NEUTRAL: PromptLight = {
  across: [],
  down: [],
  around: [],
  warmth: 1,
  brightness: 1,
  contrast: 1,
}

/** The steps of a relight in their order; none when the settings leave the picture as it is. */
export const planRelight = (
  image: Size,
  { settings, light }: RelightJob,
  wanted: WantedLight | undefined,
): Stage[] => {
  const strength = settings.light_transfer_strength / 100
  const stages = [
    ...lightStages(image, { settings, light }, wanted),
    ...styleStages(image, settings.style),
    ...engineStages(image, settings.advanced_settings.engine),
    ...toneStages(settings.advanced_settings),
  ]
  if (!settings.interpolate_from_original || strength === 1 || stages.length === 0) return stages
  return strength === 0 ? [] : [...stages, mixStage(strength)]
}

const lightStages = (
  image: Size,
  { settings, light: words }: RelightJob,
  wanted: WantedLight | undefined,
): Stage[] => {
  const { transfer_light_a, transfer_light_b, engine } = settings.advanced_settings
  const strength = settings.interpolate_from_original ? 1 : settings.light_transfer_strength / 100
  if (strength === 0 || (!wanted && !words)) return []
  const shape = LIGHT_SHAPES[transfer_light_b]
  const { limit, power } = LIGHT_CHARACTERS[engine]
  const { all, faces } = LIGHT_STRENGTH[transfer_light_a]
  const wider = shape.blur * (settings.style === 'just_composition' ? 3 : 1)
  const blur = (wanted?.blur ?? LIGHTMAP_BLUR) * wider
  const light = wanted && blurLight(wanted.planes, blur)
  const exponent = strength * all * power
  return [
    lightStage(
      { image, words: words ?? NEUTRAL, light, shape, limit, power: exponent },
      { blur, faces },
    ),
    ...(settings.preserve_details ? [keepDetailStage()] : []),
    ditherStage(),
  ]
}

const styleStages = (image: Size, style: RelightSettings['style']): Stage[] => {
  if (style === 'darker_but_realistic') return [gammaStage(1.25)]
  if (style === 'clean') return [levelsStage({ share: 0.01, weight: 0.5 }), saturationStage(1.05)]
  if (style === 'smooth') return [softFocusStage(image, 0.2, blend(0.5))]
  if (style === 'brighter') return [gammaStage(0.8)]
  if (style === 'contrasted_n_hdr') return [sCurveStage(0.5), claheStage(image, 0.3)]
  return []
}

const engineStages = (
  image: Size,
  engine: RelightSettings['advanced_settings']['engine'],
): Stage[] => {
  if (engine === 'cool') return [channelStage({ r: 0.93, g: 1, b: 1.08 })]
  if (engine === 'illusio') return [saturationStage(1.15), contrastStage(1.1)]
  if (engine === 'fairy') return [softFocusStage(image, 2, screen(0.25))]
  if (engine === 'colorful_anime') return [saturationStage(1.4), clampStage(), posteriseStage(24)]
  if (engine === 'softy') return [softFocusStage(image, 0.5, blend(0.4))]
  return []
}

const clampStage = (): Stage => curveStage((value) => value)

/** A slider of 0..100 as −1..1. */
const v = (slider: number): number => (slider - 50) / 50

const toneStages = (advanced: RelightSettings['advanced_settings']): Stage[] => {
  const ends = { lift: 0.2 * v(advanced.blacks), gain: 0.3 * v(advanced.whites) }
  const contrast = 2 ** v(advanced.contrast)
  const brightness = 0.25 * v(advanced.brightness)
  const saturation = 1 + v(advanced.saturation)
  return [
    ...(ends.lift || ends.gain ? [endsStage(ends)] : []),
    ...(contrast === 1 ? [] : [contrastStage(contrast)]),
    ...(brightness === 0 ? [] : [brightnessStage(brightness)]),
    ...(saturation === 1 ? [] : [saturationStage(saturation)]),
  ]
}
