import { createHash } from 'node:crypto'
import { open, readFile } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import type { ArchiveFile, Inspection } from '../../packages/inspector/src/inspection.ts'
import { unpackFile } from '../../src/registry/inspector/unpack-file.ts'
import {
  LICENSE_TEXT_MAX,
  findLicenseFile,
  findAlikeLicense,
  findTaggedId,
  findTopFile,
  isSameLicense,
  listLicenseWords,
  listLicenses,
  listStatedLicenses,
  type LicenseTexts,
} from '../../src/registry/domain/license.ts'

export type InspectedWithLicense = Inspection & {
  /** SPDX id of the license in the archive; undefined where there is none, or one that is not known. */
  licenseId: string | undefined
}

interface ReadArchive {
  path: string
  /** As the node names it. */
  license: string | null
  findLicenseId: FindLicenseId
}

/** Adds the license of a sound archive to what was found in it, with a finding where the project file states another. */
export const addLicense = async (
  found: Inspection,
  { path, license, findLicenseId }: ReadArchive,
): Promise<InspectedWithLicense> => {
  const files = found.archive.verdict === 'sound' ? (found.archive.files ?? []) : []
  const read = (name: string | undefined) => readFileText({ path, files }, name)
  const name = findLicenseFile(files, license)
  const text = await read(name)
  const licenseId = text === '' ? undefined : await findLicenseId(text)
  if (licenseId === undefined) return { ...found, licenseId }
  const project = findProject(files)
  const stated = listStatedLicenses(await read(project)).filter(({ id }) => id !== undefined)
  const isStated = stated.some(({ id = '' }) => isSameLicense(id, licenseId))
  if (isStated || stated.length === 0) return { ...found, licenseId }
  const { findings, counts } = found.findings
  const finding = {
    issue_type: 'license-mismatch',
    severity: 'info',
    file_path: project,
    message: `The project file states another license than ${name} is, ${licenseId}: ${stated[0]?.text}. State the one that holds`,
  } as const
  return {
    ...found,
    licenseId,
    findings: {
      ...found.findings,
      findings: [...findings, finding],
      counts: { ...counts, info: counts.info + 1 },
    },
  }
}

const LICENSES = fileURLToPath(import.meta.resolve('spdx-license-list/spdx-full.json'))

/** The texts are 5 MB, which nobody holds between two archives. */
const readLicenses = async (): Promise<LicenseTexts> =>
  JSON.parse(await readFile(LICENSES, 'utf8')) as LicenseTexts

/** Finds the SPDX id of a license's text; undefined of a text like none. */
export type FindLicenseId = (text: string) => Promise<string | undefined>

/** Comparisons that a process remembers: 100 bytes each. */
const MAX_COMPARED = 10_000

/**
 * Makes the function that finds the SPDX id of a text. Most are a license word by word, which the digest of their words finds;
 * any other is compared with all licenses, once.
 */
export const makeLicenseFinder = (): FindLicenseId => {
  let licenses: ReturnType<typeof digestLicenses> | undefined
  const compared = new Map<string, string | undefined>()
  return async (text) => {
    licenses ??= digestLicenses().catch((error: unknown) => {
      // The next archive reads them again.
      licenses = undefined
      throw error
    })
    const { ids, digests } = await licenses
    const tagged = findTaggedId(text)
    if (tagged !== undefined && ids.has(tagged)) return tagged
    const digest = digestOf(text)
    if (digests.has(digest)) return digests.get(digest)
    if (!compared.has(digest)) {
      if (compared.size >= MAX_COMPARED) compared.clear()
      compared.set(digest, await findAlikeLicense(text, await readLicenses(), () => setImmediate()))
    }
    return compared.get(digest)
  }
}

const digestOf = (text: string): string =>
  createHash('sha256').update(listLicenseWords(text).join(' ')).digest('base64')

const digestLicenses = async () => {
  const licenses = await readLicenses()
  const digests = new Map<string, string>()
  for (const [id, text] of listLicenses(licenses)) {
    const digest = digestOf(text)
    // Of two with the same words the shorter id is the common one.
    const { length = Infinity } = digests.get(digest) ?? {}
    if (id.length < length) digests.set(digest, id)
    await setImmediate()
  }
  return { ids: new Set(Object.keys(licenses)), digests }
}

/** Reads the pyproject.toml of a local archive; '' where there is none, or a longer one than any license. */
export const readProjectText = async (path: string, files: ArchiveFile[]): Promise<string> =>
  await readFileText({ path, files }, findProject(files))

const findProject = (files: ArchiveFile[]): string | undefined =>
  findTopFile(files, (one) => one === 'pyproject.toml')

const readFileText = async (
  { path, files }: { path: string; files: ArchiveFile[] },
  name: string | undefined,
): Promise<string> => {
  const file = files.find((one) => one.path === name)
  return file ? await readText(path, file) : ''
}

/** Reads a file of a local archive; '' for one that is longer than any license. */
const readText = async (path: string, file: ArchiveFile): Promise<string> => {
  const { bytes, packedBytes, dataOffset } = file
  if (bytes > LICENSE_TEXT_MAX || packedBytes > 2 * LICENSE_TEXT_MAX) return ''
  const archive = await open(path)
  try {
    const { buffer } = await archive.read(Buffer.alloc(packedBytes), 0, packedBytes, dataOffset)
    return (await unpackFile(buffer, file)).toString()
  } finally {
    await archive.close()
  }
}
