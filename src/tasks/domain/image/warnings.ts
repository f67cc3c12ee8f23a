import { listRelightWarnings } from './prompt-light.ts'

/** Facts of an image of the local engine that may surprise. */
export interface WarningFacts {
  /** Members of the request of a relight; null of any other kind. */
  relight: Record<string, unknown> | null
  /** Frames of inputs that are animations, by field. */
  frames: Record<string, number> | null
}

/** Lists what of a request takes no effect. @param facts null of other engines, and once deleted */
export const listWarnings = (facts: WarningFacts | null): string[] => [
  ...Object.entries(facts?.frames ?? {}).map(
    ([field, frames]) => `/${field} is an animation of ${frames} frames: only the first is used`,
  ),
  ...listRelightWarnings(facts?.relight ?? null),
]
