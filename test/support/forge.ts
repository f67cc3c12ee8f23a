/** A link of ours whose signature is another one. */
export const forge = (link: string): string =>
  link.replace(/signature=./, (found) => `signature=${found.endsWith('_') ? 'A' : '_'}`)
