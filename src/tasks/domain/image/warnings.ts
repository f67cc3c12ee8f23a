import { listRelightWarnings } from './prompt-light.ts'

/** Facts of an image task that may surprise. */
export interface WarningFacts {
  /** Members of the request of a relight; null of any other kind. */
  relight?: Record<string, unknown> | null
  /** Frames of inputs that are animations, by field. */
  frames?: Record<string, number> | null
  /** Media types of results that are no pictures, by their names, where the request has a format of results. */
  unformatted?: Record<string, string> | null
  /** Names of results that are PNG, where the request has a quality. */
  lossless?: string[] | null
}

/** Lists what of a request takes no effect. @param facts null where there are none, and once deleted */
export const listWarnings = (facts: WarningFacts | null): string[] => [
  ...Object.entries(facts?.frames ?? {}).map(
    ([field, frames]) => `/${field} is an animation of ${frames} frames: only the first is used`,
  ),
  ...listRelightWarnings(facts?.relight ?? null),
  ...Object.entries(facts?.unformatted ?? {}).map(
    ([name, type]) => `/kiln_output_format is one of pictures: ${name} stays as it is, ${type}`,
  ),
  ...(facts?.lossless ?? []).map(
    (name) => `/kiln_output_quality takes no effect: ${name} is PNG, which loses nothing`,
  ),
]
