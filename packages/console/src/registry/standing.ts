import type { Schema } from '../api/schema.ts'
import { wordsOf } from '../words/states.ts'
import { counted } from '../words/text.ts'

type Version = Schema<'NodeVersion'>

/**
 * Why the newest version is not what installs get, and what they get: "1.8.0 is held back: 2 findings. Installs get 1.7.0."
 * Undefined when they get the newest.
 * @param findings of high severity in the newest, where they are known
 */
export const explainInstalls = (
  newest: Version | undefined,
  latest: Version | undefined,
  findings = 0,
): string | undefined => {
  if (!newest) return 'No version has been published yet.'
  if (newest.version === latest?.version) return undefined
  const why = explain(newest, latest, findings)
  return `${newest.version} ${why}. Installs get ${latest?.version ?? 'nothing yet'}.`
}

const explain = (newest: Version, latest: Version | undefined, findings: number): string => {
  const { status, version, deprecated } = newest
  if (status === 'NodeVersionStatusFlagged' && findings > 0)
    return `is held back: ${counted(findings, 'finding')}`
  if (status !== 'NodeVersionStatusActive') return `is ${wordsOf(status).word}`
  if (deprecated && !latest?.deprecated) return 'is deprecated by its publisher'
  return version.includes('-') ? 'is a pre-release' : 'has a lower number'
}

/** The command of the settings (CONSOLE_INSTALL) for one version. */
export const writeInstall = (
  template: string,
  { node_id: node, version, downloadUrl }: Version,
): string =>
  template
    .replaceAll('{node}', node)
    .replaceAll('{version}', version)
    .replaceAll('{url}', downloadUrl ?? '')

/** The text of a license, which is mostly sent as JSON such as `{"file": "LICENSE"}`. */
export const readLicense = (license: string): string => {
  try {
    const { text, file } = JSON.parse(license) as { text?: unknown; file?: unknown }
    return typeof text === 'string' ? text : typeof file === 'string' ? `see ${file}` : license
  } catch {
    return license
  }
}
