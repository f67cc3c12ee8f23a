import type { PromptLight, SettingsByKind } from './image-settings.ts'

/** A kind together with its settings, so that a switch on the kind narrows them. */
export type ImageRequest = {
  [K in keyof SettingsByKind]: { kind: K; settings: SettingsByKind[K] }
}[keyof SettingsByKind]

export type ImageField =
  | 'image'
  | 'transfer_light_from_lightmap'
  | 'transfer_light_from_reference_image'

export type OutputFormat = 'png' | 'jpg' | 'webp'

export interface Output {
  /** Absent: PNG where the input is one or has transparency, else JPEG. */
  format?: OutputFormat | undefined
  /** From 1 to 100, of JPEG and WebP. */
  quality?: number | undefined
}

/** One picture to make: settings with every default applied, inputs as local files. */
export type ImageJob = ImageRequest & {
  /** Light that a relight's prompt asks for; absent, its words change nothing. */
  light?: PromptLight
  /** `image` is always there; files may hold anything, they are validated. */
  inputs: Partial<Record<ImageField, { path: string }>>
  /** Limits of the result; absent, it may have any size. */
  maxResult?: { pixels?: number; side?: number } | undefined
  /** Encoding of the result; absent, as the input suggests. */
  output?: Output | undefined
  /** An existing folder for this job alone; results are written into it. */
  scratchDir: string
}

/** A finished image, with the width and height of its file in pixels. */
export interface RenderedImage {
  /** Its path in the job's scratch folder; of a small one its bytes. */
  file: string | Uint8Array
  contentType: 'image/png' | 'image/jpeg' | 'image/webp'
  extension: OutputFormat
  width: number
  height: number
}
