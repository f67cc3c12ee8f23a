import { extensionOf, type ArchiveEntry } from '../../archive/entry.ts'
import { detectKind, isUncheckedBytecode, type BinaryKind } from '../../archive/magic.ts'
import { dottedNames, words } from '../../words.ts'
import type { Hit } from '../hit.ts'
import { isMinerName } from './miner.ts'
import type { ArchiveFact } from '../../archive/result.ts'
import type { CallSite, Command, SourceFile } from '../source/source-file.ts'
import { fileName, HOLE } from '../source/text.ts'
import { textsOf } from '../source/values.ts'
import { programOf } from '../source/commands.ts'

/** A file of the archive that is executable code, by its first bytes. */
export interface Binary {
  path: string
  kind: 'program' | 'bytecode' | 'wheel'
  entry: ArchiveEntry
}

export const listBinaries = (entries: readonly ArchiveEntry[]): Binary[] =>
  entries.flatMap((entry) => {
    const kind = binaryKind(detectKind(entry.head, entry.bytes), entry.path)
    return kind ? [{ path: entry.path, kind, entry }] : []
  })

const binaryKind = (kind: BinaryKind | undefined, path: string): Binary['kind'] | undefined => {
  if (kind === 'pe' || kind === 'elf' || kind === 'mach-o') return 'program'
  if (kind === 'python-bytecode') return 'bytecode'
  return kind === 'zip' && extensionOf(path) === '.whl' ? 'wheel' : undefined
}

/** disguised-binary, odd-bytecode, native-binary, and programs named as miners are. */
export const findBinaries = (binaries: readonly Binary[], paths: ReadonlySet<string>): Hit[] => {
  const caches = new Set<string>()
  return binaries.flatMap((binary): Hit[] => {
    const hit: Hit = { rule: chooseRule(binary, paths), path: binary.path }
    const cache = hit.rule === 'native-binary' && CACHE.exec(binary.path)?.[1]
    if (typeof cache !== 'string') return [hit]
    // One forgotten cache is one thing to mend, however many files it has.
    if (caches.has(cache)) return []
    caches.add(cache)
    return [hit]
  })
}

/** A file that Python put beside a module by itself. */
const CACHE = /^((?:.*\/)?__pycache__)\/[^/]*\.pyc$/i

const chooseRule = (binary: Binary, paths: ReadonlySet<string>): Hit['rule'] => {
  if (binary.kind === 'program') {
    if (DISGUISES.has(extensionOf(binary.path))) return 'disguised-binary'
    return isMinerName(binary.path.split('/').at(-1) ?? '') ? 'miner' : 'native-binary'
  }
  return binary.kind === 'bytecode' && isOdd(binary, paths) ? 'odd-bytecode' : 'native-binary'
}

/** Kinds of media, text, data and weights: no program is named so by mistake. */
const DISGUISES = new Set(
  words(`.avi .bmp .cfg .ckpt .css .csv .gguf .gif .htm .html .ico .ini .jpeg .jpg .js .json .log .md .mkv .mov .mp3 .mp4
  .npy .npz .ogg .onnx .otf .pdf .pkl .png .pt .pth .py .pyi .rst .safetensors .svg .tif .tiff .toml .ttf .txt .wav
  .webm .webp .woff .woff2 .xml .yaml .yml`),
)

/** A module without source, or one that Python would not compare with its source. */
const isOdd = ({ path, entry }: Binary, paths: ReadonlySet<string>): boolean => {
  if (isUncheckedBytecode(entry.head)) return true
  return /\.pyc$/i.test(path) && !CACHE.test(path) && !paths.has(path.replace(/c$/i, ''))
}

/** script: shell scripts, by their extension. */
export const findScripts = (entries: readonly ArchiveEntry[]): Hit[] =>
  entries
    .filter(({ path }) => /\.(?:bat|cmd|ps1|sh)$/i.test(path))
    .map(({ path }) => ({ rule: 'script', path }))

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

/** binary-used: a program of the archive is started, or a wheel of it installed, by the pack's own code. */
export const findUsedBinaries = (file: SourceFile, binaries: readonly Binary[]): Hit[] => {
  const programs = namesOfKind(binaries, 'program')
  const wheels = namesOfKind(binaries, 'wheel')
  if (programs.size === 0 && wheels.size === 0) return []
  return file.calls.flatMap((site) => {
    const used = usedBy(site, programs, wheels)
    return used === undefined
      ? []
      : [{ rule: 'binary-used', path: file.path, line: site.call.line, detail: used }]
  })
}

const namesOfKind = (binaries: readonly Binary[], kind: Binary['kind']): Set<string> =>
  new Set(binaries.filter((binary) => binary.kind === kind).map(({ path }) => fileName(path)))

const usedBy = (
  site: CallSite,
  programs: ReadonlySet<string>,
  wheels: ReadonlySet<string>,
): string | undefined => {
  const { commands } = site
  const started = commands.flatMap((command) => programOf(command)?.texts ?? [])
  return (
    started.map((text) => programIn(text, programs)).find(Boolean) ??
    commands.map((command) => wheelIn(command, wheels)).find(Boolean)
  )
}

/** A bare `ffmpeg` is the machine's own; one with a folder, known or not, before it can be the archive's. */
const programIn = (text: string, programs: ReadonlySet<string>): string | undefined => {
  const start = Math.max(...['/', '\\', HOLE].map((mark) => text.lastIndexOf(mark)))
  if (start === -1) return undefined
  const name = text.slice(start + 1).toLowerCase()
  return [name, `${name}.exe`].find((candidate) => programs.has(candidate))
}

/** The wheel itself, or a pattern for wheels. */
const wheelIn = (command: Command, wheels: ReadonlySet<string>): string | undefined => {
  if (wheels.size === 0 || !/\binstall\b/.test(command.line)) return undefined
  const texts = command.words.flatMap((word) => word.texts)
  const [any] = wheels
  return (
    texts.map(fileName).find((name) => wheels.has(name)) ??
    (texts.some((text) => /[*\0][^/\\]*\.whl$/i.test(text)) ? any : undefined)
  )
}
