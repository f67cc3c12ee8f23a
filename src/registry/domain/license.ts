import spdxCorrect from 'spdx-correct'

/** Texts of licenses by their SPDX ids. */
export type LicenseTexts = Readonly<Record<string, { licenseText: string }>>

/** Part of each of two texts that the other must have, so that a text is taken for a license; 1 is the same words in the same order. */
const ALIKE = 0.93
/** Longest text that is compared; the longest common license has 35,000 characters. */
export const LICENSE_TEXT_MAX = 100_000

/** Lists licenses by their ids. Outdated ids, which a newer one has replaced, are left out. */
export const listLicenses = (licenses: LicenseTexts): [id: string, text: string][] =>
  Object.entries(licenses).flatMap(([id, { licenseText }]) =>
    id.endsWith('+') || `${id}-only` in licenses ? [] : [[id, licenseText]],
  )

/** Finds the id that a text names itself. */
export const findTaggedId = (text: string): string | undefined =>
  /SPDX-License-Identifier:\s*([\w.+-]+)/.exec(text)?.[1]

/**
 * Finds the SPDX id of a license's text: the license that is most like it, by the pairs of neighbouring words.
 * Undefined for a text like none. `pause` lets others of the process go on.
 */
export const findAlikeLicense = async (
  text: string,
  licenses: LicenseTexts,
  pause: () => Promise<void>,
): Promise<string | undefined> => {
  const given = pairsOf(text)
  const size = sizeOf(given)
  let best: { id: string; likeness: number } | undefined
  for (const [id, licenseText] of listLicenses(licenses)) {
    if (isUnlike(licenseText, text)) continue
    const known = pairsOf(licenseText)
    let shared = 0
    for (const [pair, times] of known) shared += Math.min(times, given.get(pair) ?? 0)
    const likeness = shared / Math.max(size, sizeOf(known))
    const isBetter =
      best === undefined ||
      likeness > best.likeness ||
      (likeness === best.likeness && id.length < best.id.length)
    if (likeness >= ALIKE && isBetter) best = { id, likeness }
    await pause()
  }
  return best?.id
}

/** Lengths alone tell most apart. Appendices on how to apply a license make up a fifth of some. */
const isUnlike = ({ length: a }: string, { length: b }: string): boolean =>
  a < b * 0.6 || b < a * 0.6

/** Lists the words of a license, without title, names of holders, places to fill in and appendices. */
export const listLicenseWords = (text: string): string[] => {
  const [terms = ''] = text.toLowerCase().split(/end\s+of\s+terms\s+and\s+conditions/, 1)
  return (
    terms
      .replaceAll(
        /^\W*(?:copyright\s*(?:\(c\)|[©<[{\d])|\(c\)\s*(?:\d|copyright)|©).*$|^\W*(?:the )?mit license.*$/gm,
        ' ',
      )
      .replaceAll(/<[^<>\n]{0,99}>|\[[^[\]\n]{0,99}\]/g, ' ')
      .match(/[\p{L}\d]+/gu) ?? []
  )
}

/** Counts each pair of neighbouring words. */
const pairsOf = (text: string): Map<string, number> => {
  const words = listLicenseWords(text)
  const pairs = new Map<string, number>()
  for (const [index, word] of words.entries()) {
    const pair = `${words[index - 1] ?? ''} ${word}`
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1)
  }
  return pairs
}

const sizeOf = (pairs: ReadonlyMap<string, number>): number =>
  [...pairs.values()].reduce((sum, times) => sum + times, 0)

/** Finds the file of a name at the root of an archive, or in the one folder that wraps everything. */
export const findTopFile = (
  files: readonly { path: string }[],
  isIt: (name: string) => boolean,
): string | undefined => {
  const [root = ''] = /^[^/]+\//.exec(files[0]?.path ?? '') ?? []
  const top = files.every(({ path }) => path.startsWith(root)) ? root.length : 0
  return files.find(({ path }) => isIt(path.slice(top)))?.path
}

/** Path of the license in an archive: the file that the node's `license` names, else the usual one. */
export const findLicenseFile = (
  files: readonly { path: string }[],
  license: string | null,
): string | undefined => {
  const [, named] = /^\s*\{\s*"file"\s*:\s*"(?:\.\/)?([^"\\]+)"/.exec(license ?? '') ?? []
  return (
    findTopFile(files, (name) => name === named) ??
    findTopFile(files, (name) => /^(?:licen[sc]e|copying)(?:[-.][^/]*)?$/i.test(name))
  )
}

export interface StatedLicense {
  /** As the project file states it. */
  text: string
  /** Its SPDX id; undefined for one that has none. */
  id: string | undefined
}

/** Lists the licenses that a pyproject.toml states by classifier, or as `license = "…"`. Reads lines, not TOML. */
export const listStatedLicenses = (toml: string): StatedLicense[] =>
  [
    ...toml.replaceAll(/^\s*#.*$/gm, '').matchAll(/["']License :: ([^"'\n]{1,200})["']/g),
    ...toml.matchAll(/^license\s*=\s*["']([^"'\n]{1,200})["']/gm),
  ].flatMap(([, text = '']) => {
    const last = text.split(' :: ').at(-1) ?? ''
    // A name of a group is no license.
    return /^(?:OSI Approved|LICEN[SC]E.*)$/i.test(last) ? [] : [{ text, id: toLicenseId(last) }]
  })

const toLicenseId = (text: string): string | undefined =>
  spdxCorrect(text.replace(/^.*\((\w+?)(v[\d.]+)?\+?\)$/, '$1$2')) ?? spdxCorrect(text) ?? undefined

/** True unless one is surely another license: versions alone differ by text, and classifiers have few of the clauses. */
export const isSameLicense = (a: string, b: string): boolean => kindOf(a) === kindOf(b)

const kindOf = (id: string): string =>
  id.startsWith('BSD-') ? 'BSD' : id.replace(/-(?:only|or-later)$|\+$/, '').toLowerCase()
