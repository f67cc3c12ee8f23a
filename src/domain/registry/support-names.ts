/**
 * The names of systems and accelerators, in lower case. Packs publish classifiers (`Microsoft :: Windows`, `GPU :: NVIDIA
 * CUDA`) and people type one word. A filter is widened to all spellings of what it names, so that the index of what packs
 * say answers it as it is. A text that is not here is found by itself alone.
 */
interface Family {
  /** What may stand before a name in a classifier, beside nothing. */
  paths: readonly string[]
  /** Apart by commas. */
  names: string
}

interface Families {
  /** The first word of its classifiers; packs publish them with it and without. */
  root: string
  families: readonly Family[]
}

const EVERYWHERE = ['os independent', 'platform independent', 'cross-platform', 'any', 'all']

const SYSTEMS: Families = {
  root: 'operating system',
  families: [
    {
      paths: ['microsoft', 'microsoft :: windows'],
      names:
        'windows, win, win32, win64, microsoft, microsoft windows, windows 7, windows 8, windows 8.1, windows 10, windows 11',
    },
    {
      paths: ['posix'],
      names: 'linux, gnu/linux, ubuntu, debian, posix, unix',
    },
    {
      paths: ['macos'],
      names: 'macos, mac, mac os, macos x, mac os x, os x, osx, darwin, posix, unix',
    },
  ],
}

const ACCELERATORS: Families = {
  root: 'environment',
  families: [
    { paths: ['gpu'], names: 'cuda, nvidia, nvidia cuda, nvidia gpu' },
    { paths: ['gpu'], names: 'rocm, amd, amd rocm, amd gpu, radeon, hip' },
    {
      paths: ['gpu'],
      names: 'mps, metal, apple, apple metal, apple mps, apple silicon',
    },
    { paths: ['gpu'], names: 'directml, dml, direct ml, microsoft directml' },
    { paths: ['gpu'], names: 'xpu, intel, arc, intel arc, intel xpu, oneapi' },
    { paths: ['npu'], names: 'ascend, huawei, huawei ascend, npu, cann' },
  ],
}

/** Makes what widens names to all their spellings, and to those that say "everywhere". */
const makeWiden = ({ root, families }: Families) => {
  const underRoot = (names: readonly string[]) =>
    names.flatMap((name) => [name, `${root} :: ${name}`])
  const all = families.map(({ paths, names }) =>
    underRoot(
      names.split(', ').flatMap((name) => [name, ...paths.map((path) => `${path} :: ${name}`)]),
    ),
  )
  return (asked: readonly string[]): string[] => [
    ...new Set([
      ...underRoot(EVERYWHERE),
      ...asked
        .map((text) => text.trim().toLowerCase())
        .flatMap((text) => [text, ...all.filter((names) => names.includes(text)).flat()]),
    ]),
  ]
}

export const widenSystems = makeWiden(SYSTEMS)
export const widenAccelerators = makeWiden(ACCELERATORS)
