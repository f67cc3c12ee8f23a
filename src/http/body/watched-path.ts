/** Makes a test for places in a body: JSON Pointers in which the step `*` stands for any key or index. */
export const makePathMatcher = (
  pointers: readonly string[],
): ((path: readonly string[]) => boolean) => {
  const patterns = pointers.map((pointer) => pointer.split('/').slice(1).map(unescapeStep))
  return (path) =>
    patterns.some(
      (pattern) =>
        pattern.length === path.length &&
        pattern.every((step, index) => step === '*' || step === path[index]),
    )
}

const unescapeStep = (step: string): string => step.replaceAll('~1', '/').replaceAll('~0', '~')
