import type { Data, Schema } from '../api/schema.ts'
import { wordsOf } from '../words/states.ts'
import { t } from '../words/translate.ts'

type Version = Schema<'NodeVersion'>

/**
 * Why the newest version is not the latest, and which one is: "1.8.0 is flagged: 2 high-severity findings. Latest is 1.7.0."
 * Undefined when it is.
 * @param findings of high severity in the newest, where they are known
 */
export const explainInstalls = (
  newest: Version | undefined,
  latest: Version | undefined,
  findings = 0,
): string | undefined => {
  if (!newest) return t('No versions published yet.')
  if (newest.version === latest?.version) return undefined
  const why = explain(newest, latest, findings)
  return `${why} ${latest ? t('Latest is {version}.', { version: latest.version }) : t('Nothing can be installed yet.')}`
}

const explain = (newest: Version, latest: Version | undefined, findings: number): string => {
  const { status, version, deprecated } = newest
  if (status === 'NodeVersionStatusFlagged' && findings > 0)
    return t(
      '{version} is flagged: {findings, plural, one {# high-severity finding} other {# high-severity findings}}.',
      { version, findings },
    )
  if (status === 'NodeVersionStatusPending') return t('{version} is being checked.', { version })
  if (status !== 'NodeVersionStatusActive')
    return t('{version} is {state}.', { version, state: wordsOf(status).word })
  if (deprecated && !latest?.deprecated)
    return t('{version} is deprecated by its publisher.', { version })
  return version.includes('-')
    ? t('{version} is a pre-release.', { version })
    : t('{version} has a lower number.', { version })
}

const NUMBERS = new Intl.Collator('en', { numeric: true })

/** Orders versions by number, the highest first; a pre-release stands below its release. */
export const byNumber = (a: string, b: string): number => {
  const [[first = '', before], [second = '', after]] = [cutVersion(a), cutVersion(b)]
  const core = NUMBERS.compare(second, first)
  if (core !== 0 || before === after) return core
  if (before === undefined) return -1
  return after === undefined ? 1 : NUMBERS.compare(after, before)
}

const cutVersion = (version: string): (string | undefined)[] => {
  const [plain = ''] = version.split('+')
  const at = plain.indexOf('-')
  return at === -1 ? [plain] : [plain.slice(0, at), plain.slice(at + 1)]
}

/** The command where the settings have none, in one line. It asks for the version first, so that the install counts. */
const DEFAULT_INSTALL =
  "curl -fsS '{origin}/nodes/{node}/install?version={version}' | jq -r .downloadUrl | xargs curl -fLo {node}.zip && unzip {node}.zip -d custom_nodes/{node}"

/** The same where the registry is not public: the version it names has a link that needs no credential. */
const SIGNED_IN_INSTALL = DEFAULT_INSTALL.replace('-fsS', '-fsS -H "X-API-KEY: $KILN_API_KEY"')

/** The command that installs a version, with names in braces. */
export const chooseInstall = (
  service: Pick<Data<'/service'>, 'install' | 'registry_reads'> | undefined,
): string =>
  service?.install ||
  ((service?.registry_reads ?? 'public') === 'public' ? DEFAULT_INSTALL : SIGNED_IN_INSTALL)

/** The command of the settings (CONSOLE_INSTALL) for one version. */
export const writeInstall = (
  template: string,
  { node_id: node, version, downloadUrl }: Pick<Version, 'node_id' | 'version' | 'downloadUrl'>,
  origin = '',
): string =>
  template
    .replaceAll('{node}', node)
    .replaceAll('{version}', version)
    .replaceAll('{url}', downloadUrl ?? '')
    .replaceAll('{origin}', origin)

/** The text of a license, which is mostly sent as JSON such as `{"file": "LICENSE"}`. */
export const readLicense = (license: string): string => {
  try {
    const { text, file } = JSON.parse(license) as { text?: unknown; file?: unknown }
    if (typeof text === 'string') return text
    return typeof file === 'string' ? t('see {file}', { file }) : license
  } catch {
    return license
  }
}
