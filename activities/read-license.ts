import { open, readFile } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import type { ArchiveFile, Inspection } from '../packages/inspector/src/inspection.ts'
import { unpackFile } from '../src/adapters/inspector/unpack-file.ts'
import {
  LICENSE_TEXT_MAX,
  findLicenseFile,
  findLicenseId,
  findTopFile,
  isSameLicense,
  listStatedLicenses,
  type LicenseTexts,
} from '../src/domain/registry/license.ts'

export type InspectedWithLicense = Inspection & {
  /** SPDX id of the license in the archive; undefined where there is none, or one that is not known. */
  licenseId: string | undefined
}

/**
 * Adds the license of a sound archive to what was found in it, with a finding where the project file states another.
 * @param license as the node names it
 */
export const addLicense = async (
  found: Inspection,
  path: string,
  license: string | null,
): Promise<InspectedWithLicense> => {
  const files = found.archive.verdict === 'sound' ? (found.archive.files ?? []) : []
  const read = async (name: string | undefined): Promise<string> => {
    const file = files.find((one) => one.path === name)
    return file ? await readText(path, file) : ''
  }
  const name = findLicenseFile(files, license)
  const text = await read(name)
  const licenseId = text === '' ? undefined : await findId(text)
  if (licenseId === undefined) return { ...found, licenseId }
  const project = findTopFile(files, (one) => one === 'pyproject.toml')
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
const findId = async (text: string): Promise<string | undefined> => {
  const licenses = JSON.parse(await readFile(LICENSES, 'utf8')) as LicenseTexts
  return await findLicenseId(text, licenses, () => setImmediate())
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
