import type { ArchiveFact } from '../../archive/result.ts'
import type { Hit } from '../hit.ts'
import type { SourceFile } from '../source/source-file.ts'
import { fileName } from '../source/text.ts'
import { textsOf } from '../source/values.ts'
import { dottedNames } from '../../words.ts'

/** nested-archive and name-collision, from what the archive's reader noted. A wheel is a binary, not an archive. */
export const findArchiveFacts = (
  facts: readonly ArchiveFact[],
  opened: ReadonlySet<string>,
): Hit[] =>
  facts.flatMap((fact): Hit[] => {
    if (fact.kind === 'name_collision')
      return [{ rule: 'name-collision', path: fact.path, detail: fact.kept }]
    if (/\.whl$/i.test(fact.path)) return []
    const hit: Hit = { rule: 'nested-archive', path: fact.path, detail: fact.format }
    return [opened.has(fileName(fact.path)) ? { ...hit, tier: 'medium' } : hit]
  })

/** File names, in lower case, of the archives that the pack's Python opens. */
export const archivesOpened = (file: SourceFile): string[] =>
  file.calls
    .filter(({ names }) => names.some((name) => OPENERS.has(name)))
    .flatMap(({ call, scope }) => call.args.flatMap((node) => textsOf(node, scope)))
    .map(fileName)

const OPENERS = dottedNames({
  py7zr: 'SevenZipFile',
  rarfile: 'RarFile',
  shutil: 'unpack_archive',
  'sys.path': 'append insert',
  tarfile: 'TarFile open',
  zipfile: 'ZipFile',
  zipimport: 'zipimporter',
})
