import { text } from './context.ts'
import type { Command, Context } from './context.ts'
import { EXIT, UsageError } from './error.ts'
import { cleanText, counted } from './words.ts'

const DESCRIPTION_MAX = 80

const search = async (context: Context): Promise<number> => {
  const { kiln, screen, signal, positionals, values } = context
  const words = positionals.join(' ')
  const name = text(values, 'host-node')
  const limit = text(values, 'limit') ?? '10'
  if (words === '' && name === undefined) throw new UsageError('expected words, or --host-node')
  if (!/^\d+$/.test(limit)) throw new UsageError(`--limit must be a number, got ${limit}`)
  const query = {
    limit: Number(limit),
    ...(words !== '' && { search: words }),
    ...(name !== undefined && { host_node_search: name }),
  }
  const found = await kiln.registry.searchNodes(query, { signal })
  const { nodes, total, did_you_mean: similar = [] } = found
  const rows = nodes.map(({ id, description, publisher, latest_version: latest }) =>
    [id, latest?.version ?? '-', publisher.id, cleanText(description, DESCRIPTION_MAX)].join('  '),
  )
  const meant = similar.map(({ id, host_node: node }) => (node ? `${node} (of ${id})` : id))
  const none = ['no pack', ...(meant.length > 0 ? [`did you mean ${meant.join(', ')}?`] : [])]
  const more = total > nodes.length ? [`${counted(total, 'pack')} in all`] : []
  screen.print(rows.length > 0 ? [...rows, ...more] : [none.join(': ')], found)
  return EXIT.done
}

export const SEARCH_COMMAND: Command = {
  usage: '<words>… [--host-node <part>] [--limit <number>]',
  summary: 'searches the registry for packs: id, latest version, publisher, description',
  help: ['--host-node  a part of a name of their host nodes', '--limit      10 unless given'],
  options: { 'host-node': { type: 'string' }, limit: { type: 'string' } },
  run: search,
}
