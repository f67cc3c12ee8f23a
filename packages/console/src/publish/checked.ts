import { bad, ok, warn, type Check } from '../../../client/src/cli/check-pack.ts'
import type { CheckedArchive } from '../../../client/src/lib/registry.ts'
import { countsInWords } from '../ui/findings.tsx'
import { listSome } from '../words/text.ts'
import { t } from '../words/translate.ts'

/** Says what the service has found in a pack. */
export const describeChecked = (checked: CheckedArchive): Check[] => {
  const { archive, counts, extraction, findings, host_nodes: nodes, project } = checked
  const { issues, warnings, is_new_node: isNew, version_free: isFree } = checked
  const { node_id: id } = project
  if (archive.verdict === 'rejected')
    return [bad(t('Archive rejected: {message}', { message: archive.message }))]
  const names = nodes.map(({ name }) => name)
  const read = t('{count, plural, one {# node} other {# nodes}} read', { count: nodes.length })
  const named = names.length > 0 ? `${read}: ${listSome(names)}` : read
  const isRead = extraction.status === 'success' && !extraction.partial
  const scanned = t('Code scanned: {counts}', { counts: countsInWords(counts) })
  return [
    ok(t('Archive sound: {count, plural, one {# file} other {# files}}', { count: archive.files })),
    checked.status === 'NodeVersionStatusFlagged'
      ? bad(`${scanned}. ${checked.status_reason}`)
      : (counts.medium > 0 ? warn : ok)(scanned),
    ...findings.filter(({ severity }) => severity !== 'info').map(describeFinding),
    extraction.status === 'failed'
      ? warn(t('Nodes cannot be read'))
      : (isRead ? ok : warn)(isRead ? named : t('{named}; some may be missing', { named })),
    ...warnings.map((text) => warn(text.replace(CODE, ''))),
    ...issues.map(bad),
    ...(isFree ? [ok(isNew ? t('{id} is a new pack: the ID is free', { id }) : IS_FREE)] : []),
  ]
}

/** Code that a reader of the API finds its guide by. */
const CODE = /^[a-z_]+: (?=[A-Z])/

/** Why nobody would have a node of the pack; undefined where nodes can be read. */
export const explainNoNodes = ({ extraction }: CheckedArchive): string | undefined => {
  if (extraction.status !== 'failed') return undefined
  return /^(unparsable|import_raised|own_module_missing)$/.test(extraction.reason ?? '')
    ? t('Published, ComfyUI could not load it: nobody would have its nodes.')
    : t('Published, its page would list no nodes.')
}

const IS_FREE = t('The version is free')

const describeFinding = (finding: CheckedArchive['findings'][number]): Check => {
  const { severity, file_path: path = t('the whole archive'), line_number: line, message } = finding
  const text = `${path}${line === undefined ? '' : `:${line}`}: ${message}`
  return (severity === 'high' ? bad : warn)(text)
}
