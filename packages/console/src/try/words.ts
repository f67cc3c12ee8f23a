import { t, tName } from '../words/translate.ts'
import type { Choice } from './form.ts'
import type { Body } from './schema.ts'

/** Prompts of a light to begin with; the engine understands each of their words. */
export const LIGHTS = ['warm sunlight from the left', 'soft daylight from above', 'cool moonlight']

/** Labels of members whose name does not say it. */
const LABELS: Readonly<Record<string, string>> = {
  bgm: t('Background music'),
  callback_url: t('Callback URL'),
  end_image: t('Last frame'),
  hdr: 'HDR',
  interpolate_from_original: t('Blend with the original'),
  is_rec: t('Use a recommended prompt'),
  kiln_end_within: t('End within (seconds)'),
  kiln_retention_seconds: t('Keep files for (seconds)'),
  kiln_start_within: t('Start within (seconds)'),
  meta_data: t('Metadata (JSON)'),
  off_peak: t('Off-peak'),
  transfer_light_a: t('Light transfer intensity'),
  transfer_light_b: t('Light transfer curve'),
  transfer_light_from_lightmap: t('Light map'),
  transfer_light_from_reference_image: t('Reference image'),
  video_creation_id: t('Video'),
  video_url: t('Video'),
  voice_id: t('Voice'),
  webhook_url: t('Webhook URL'),
  wm_position: t('Watermark corner'),
  wm_url: t('Watermark image URL'),
}

/** `light_transfer_strength` as people write it, and `kiln_start_after` without the prefix. */
export const labelOf = (name: string): string =>
  LABELS[name] ?? tName(sentence(name.replace(/^kiln_/, '')))

export const sentence = (name: string): string => {
  const words = name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Label of a picture that a task was made of. */
export const labelOfInput = (kind: string, field: string): string => {
  const isPair = kind === 'start-end2video'
  if (field === 'images') return isPair ? t('First frame') : t('Start image')
  if (field === 'end_image' && !isPair) return t('End image')
  const [member = '', place] = field.split('.')
  return place === undefined ? labelOf(member) : `${labelOf(member)} ${Number(place) + 1}`
}

const CORNERS = [t('Top left'), t('Top right'), t('Bottom right'), t('Bottom left')]
const CHOICES: Readonly<Record<string, string>> = {
  contrasted_n_hdr: t('Contrast + HDR'),
  no_make_up: t('No make-up'),
  '3d_renders': t('3D renders'),
}

/** A value as people write it: `art_n_illustration` of a picture, 5 of a duration. Names of models stay. */
export const wordOf = (name: string, value: Choice): string => {
  if (typeof value === 'boolean') return value ? t('On') : t('Off')
  if (name === 'duration') return t('{count} s', { count: Number(value) })
  if (name === 'wm_position') return CORNERS[Number(value) - 1] ?? String(value)
  const text = String(value)
  if (name === 'model' || !/^[a-z]\w*$/.test(text)) return CHOICES[text] ?? text
  return CHOICES[text] ?? tName(sentence(text.replace(/^vendor_/, '').replaceAll('_n_', ' & ')))
}

/** A choice that is not made, with the value that the service then takes; `auto` among the others means something else. */
export const unsetWord = (name: string, own: Choice | undefined, others: readonly Choice[]) => {
  if (own !== undefined) return t('Auto ({name})', { name: wordOf(name, own) })
  return others.includes('auto') ? t('As the kind does') : t('Auto')
}

/** Help for people: other members by their label, values by the choice, and what has no effect left out. */
export const helpOf = (description: string): string =>
  tName(cutHelp(description))
    .replaceAll('`', '')
    .replaceAll(/\b[a-z]+_[a-z_]+\b/g, (name) => `“${labelOf(name)}”`)

/** Part of a description that helps people; the catalogue has it. */
export const cutHelp = (description: string): string =>
  description
    .replace(/\s*Base64.*$/s, '')
    .replace(/, by model.*$/s, '.')
    .replace(/: 1 top left.*$/, '.')

/** The help of a field that has an effect, without the cases in which it has none. */
export const withoutCases = (help: string): string =>
  help.replace(/[.;] (no effect|echoed as given|default true on q3)[^.]*\./gi, '.')

/** The value that the service takes where none is given, as the description of the member has it by model. */
export const presetOf = (name: string, description: string, body: Body): Choice | undefined => {
  const model = String(body['model'])
  if (name === 'audio') return model.startsWith('videoq3')
  const part = description.split(/[:;] /).find((one) => one.startsWith(`${model} `)) ?? ''
  const found = [...part.matchAll(/(?: at (\d+) s)? \((\w+)\)/g)]
  const [, , text] = found.find(([, at]) => at === String(body['duration'])) ?? found.at(-1) ?? []
  return text === undefined || name !== 'duration' ? text : Number(text)
}

const NEVER = /no effect[^.]* in the local engine\.$|^Accepted; changes neither/i

/** True where a member changes nothing beside the others, of a body with its defaults. */
export const isIneffective = (name: string, description: string, body: Body): boolean => {
  const [, generation] = /^videoq(\d)/.exec(String(body['model'])) ?? []
  const isNew = generation === '3' || generation === '2'
  const hasSound = body['audio'] === true
  const hasImage = [body['images'] ?? []].flat().length > 0
  if (NEVER.test(description)) return true
  // The style of an image has one.
  if (body['model'] === undefined) return false
  switch (name) {
    case 'audio_type':
      return !hasSound || generation === '3'
    case 'bgm':
      return hasSound || generation === '3' || (generation === '2' && Number(body['duration']) >= 9)
    case 'movement_amplitude':
    case 'style':
      return isNew
    case 'aspect_ratio':
    case 'is_rec':
      return hasImage
    case 'wm_position':
    case 'wm_url':
      return body['watermark'] !== true
    default:
      return false
  }
}
