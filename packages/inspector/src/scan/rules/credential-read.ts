import type { Expression } from '../../python/ast.ts'
import { CREDENTIAL_PLACES } from '../data/credential-places.ts'
import { findArgument } from '../source/keywords.ts'
import type { CallSite } from '../source/source-file.ts'
import { eachCall } from '../hit.ts'
import { constantText, textsOf } from '../source/values.ts'
import { dottedNames } from '../../words.ts'

/** credential-read: a place of keys, passwords, sessions or wallets is what a call opens, lists or copies. */
export const findCredentialReads = eachCall((site) => {
  const place = pathsRead(site).find(isCredentialPlace)
  return place === undefined ? undefined : { rule: 'credential-read', detail: shown(place) }
})

const isCredentialPlace = (path: string): boolean => {
  const plain = path.replaceAll(/[\\/]+/g, '/').toLowerCase()
  return CREDENTIAL_PLACES.some((place) => place.test(plain))
}

const shown = (path: string): string => path.replaceAll('\0', '…').slice(0, 120)

const pathsRead = (site: CallSite): string[] =>
  [...argumentsRead(site), ...receiverRead(site)]
    .flatMap((node) => textsOf(node, site.scope))
    .concat(copiedByCommand(site))

/** Functions that read what their first argument names. A file that is only written keeps the pack's own login. */
const argumentsRead = (site: CallSite): Expression[] => {
  const [first] = site.call.args
  return first && site.names.some((name) => READERS.has(name)) && !isWritten(site) ? [first] : []
}

const isWritten = (site: CallSite): boolean => {
  const mode = findArgument(site, 1, 'mode')
  return mode !== undefined && /^[wx]/.test(constantText(mode, site.scope) ?? '')
}

const READERS = dottedNames({
  aiofiles: 'open',
  builtins: 'open',
  codecs: 'open',
  glob: 'glob iglob',
  os: 'listdir open scandir walk',
  shutil: 'copy copy2 copyfile copytree make_archive move',
  sqlite3: 'connect',
  'tarfile.open()': 'add',
  'zipfile.ZipFile()': 'write',
})

/** `Path(…).read_text()`. */
const receiverRead = ({ call }: CallSite): Expression[] =>
  call.func.kind === 'Attribute' && PATH_READERS.has(call.func.attr) ? [call.func.value] : []

const PATH_READERS = new Set(['glob', 'iterdir', 'open', 'read_bytes', 'read_text', 'rglob'])

/** `cat ~/.ssh/id_rsa`. */
const copiedByCommand = (site: CallSite): string[] =>
  site.commands
    .filter(({ words }) =>
      words[0]?.texts.some((text) => /^(?:cat|cp|copy|type|scp|tar|zip)$/.test(text)),
    )
    .flatMap(({ words }) => words.slice(1).flatMap(({ texts }) => texts))
