import { KilnError } from '../index.ts'
import type { CheckedArchive } from '../lib/registry.ts'
import type { PackedFolder } from './archive.ts'
import type { Context } from './context.ts'
import type { Project } from './parse-project.ts'
import type { Reading } from './reader.ts'
import { listFindings } from './version-commands.ts'

type Pack = Pick<Project, 'nodeId' | 'publisherId' | 'version'> & { archive: PackedFolder }

/** Has the service read and scan the archive of a pack, which it does not keep. */
export const checkRemotely = async (
  { kiln, screen, signal }: Context,
  { nodeId, publisherId, version, archive }: Pack,
  token = process.env['KILN_PUBLISH_TOKEN'] || undefined,
): Promise<CheckedArchive> => {
  const open = () =>
    archive.open((read) =>
      read < archive.bytes
        ? screen.show('sending', (100 * read) / archive.bytes)
        : screen.show('being checked'),
    )
  const named = publisherId === undefined ? {} : { publisher_id: publisherId }
  const query = { node_id: nodeId, version: version.version, ...named }
  return await kiln.registry.checkArchive(open, query, { token, signal })
}

/** The same as the reader of this machine says it. */
export const toReading = (checked: CheckedArchive): Reading => {
  const { archive, extraction, host_nodes: nodes, findings, scanned, warnings } = checked
  return {
    verdict: archive.verdict,
    code: archive.code ?? null,
    ...extraction,
    advice: warnings,
    how: 'remote',
    nodes: Object.fromEntries(nodes.map(({ name, ...node }) => [name, node])),
    findings,
    scanned,
  }
}

export const toRegistry = (checked: CheckedArchive, { nodeId, version }: Pack) => {
  const { is_new_node: isNew, version_free: isFree, issues } = checked
  const node = isNew ? `${nodeId} is a new pack` : nodeId
  const line = isFree ? `${node}, ${version.version} is free` : issues.join('; ')
  return { line, issues, isAsked: true }
}

/**
 * Checks a pack before a number is used up. False when the version would be flagged, which is said: a publication that is
 * rejected uses up none. A service that cannot check now, or does not know how, does not stand in the way.
 */
export const checkBefore = async (
  context: Context,
  pack: Pack,
  token: string,
): Promise<boolean> => {
  const { screen } = context
  const checked = await checkRemotely(context, pack, token).catch((error: unknown) => {
    if (!(error instanceof KilnError) || !isAway(error)) throw error
    screen.record(`  check     not made: ${error.message}`)
  })
  if (!checked) return true
  const { status, status_reason: reason, findings, warnings } = checked
  for (const warning of warnings) screen.record(`  warning   ${warning}`)
  if (status === 'NodeVersionStatusActive') return true
  const high = findings.filter(({ severity }) => severity === 'high')
  const lines = [
    `not published, the version would be flagged: ${reason}`,
    ...listFindings(high),
    '--no-check publishes it all the same',
  ]
  screen.print(lines, checked)
  return false
}

const isAway = ({ status = 503 }: KilnError): boolean =>
  status >= 500 || status === 429 || status === 404 || status === 405
