import type { Hit } from '../hit.ts'
import { isFetch } from '../source/origin-names.ts'
import type { CallSite, SourceFile } from '../source/source-file.ts'
import { textsOf } from '../source/values.ts'
import { dottedNames } from '../../words.ts'

/**
 * miner: a pool's address as a string, or the name of a mining program in a command or a download. Its bare name elsewhere
 * is not: packs that look for miners hold it too.
 */
export const findMiners = (file: SourceFile): Hit[] => [
  ...file.texts
    .filter(({ text }) => POOL.test(text))
    .map(({ line }): Hit => ({ rule: 'miner', path: file.path, line })),
  ...file.calls
    .filter((site) => used(site).some((text) => PROGRAM.test(text) || POOL.test(text)))
    .map(({ call }): Hit => ({ rule: 'miner', path: file.path, line: call.line })),
]

const POOL = /\bstratum\d?\+(?:tcp|ssl|tls|udp)2?:\/\/[\w.-]+/i

/** Names of mining programs, as words of a path or address. */
const PROGRAM =
  /(?:^|[\s/\\'"=-])(?:xmrig|xmr-stak|lolminer|nbminer|phoenixminer|teamredminer|nanominer|srbminer|gminer|ethminer|cgminer|bfgminer|cpuminer|minerd|t-rex-miner|ccminer|bzminer|onezerominer|wildrig)(?:[\s/\\.'"_-]|$)/i

export const isMinerName = (path: string): boolean => PROGRAM.test(path)

/** Command lines a call starts, and addresses it fetches. */
const used = (site: CallSite): string[] => {
  const lines = site.commands.map(({ line }) => line)
  const [address] = site.call.args
  return address && site.names.some((name) => isFetch(name) || FETCHERS.has(name))
    ? textsOf(address, site.scope)
    : lines
}

const FETCHERS = dottedNames({
  'urllib.request': 'urlretrieve',
  urllib: 'urlretrieve',
  wget: 'download',
  'torch.hub': 'download_url_to_file',
})
