import { fromPointer } from '../../domain/shared/pointer.ts'

/** Makes a test for places in a body: JSON Pointers in which the step `*` stands for any key or index. */
export const makePathMatcher = (
  pointers: readonly string[],
): ((depth: number, path: () => readonly string[]) => boolean) => {
  const patterns = pointers.map(fromPointer)
  const depths = new Set(patterns.map((pattern) => pattern.length))
  // The path is made only where it could match: a body has many strings and few images.
  return (depth, path) => depths.has(depth) && patterns.some((pattern) => fits(pattern, path()))
}

const fits = (pattern: readonly string[], path: readonly string[]): boolean =>
  pattern.length === path.length &&
  pattern.every((step, index) => step === '*' || step === path[index])
