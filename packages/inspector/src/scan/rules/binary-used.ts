import type { Hit } from '../hit.ts'
import { programOf } from '../source/commands.ts'
import type { CallSite, Command, SourceFile } from '../source/source-file.ts'
import { fileName, HOLE } from '../source/text.ts'
import type { Binary } from './binaries.ts'

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
