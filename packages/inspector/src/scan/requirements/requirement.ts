/** A requirement of PEP 508, or an option of pip, as far as the scan reads them. */
export interface Requirement {
  /** Normalised; undefined for a bare address or path and for options. */
  name: string | undefined
  /** `==1.2, <3`; '' for any version. */
  specifier: string
  /** Address or path from which it is installed, instead of the index. */
  address: string | undefined
  /** Value of an option that names another index: `--extra-index-url`. */
  index: string | undefined
}

/** As PEP 503 compares names. */
export const normalise = (name: string): string => name.toLowerCase().replaceAll(/[-_.]+/g, '-')

/** Reads one line without its comment; undefined for what is no requirement (`-r other.txt`, blanks). */
export const readRequirement = (line: string): Requirement | undefined => {
  if (line.length > MAX_LINE) return undefined
  const text = line
    .replaceAll(/\s+/g, ' ')
    .replace(/(?:^| )#.*$/, '')
    .trim()
  if (text === '') return undefined
  if (text.startsWith('-')) return readOption(text)
  const plain = text.split(/\s+--\w/)[0] ?? text
  return readAddress(plain) ?? readNamed(plain)
}

/** The longest real requirement is an address of some 200 characters. */
const MAX_LINE = 1000

const NOTHING: Requirement = {
  name: undefined,
  specifier: '',
  address: undefined,
  index: undefined,
}

const readOption = (text: string): Requirement | undefined => {
  const index =
    /^(?:--extra-index-url|--index-url|-i|--find-links|-f)(?:\s*=\s*|\s+)["']?(\S+?)["']?$/.exec(
      text,
    )
  if (index) return { ...NOTHING, index: index[1] }
  const editable = /^(?:-e|--editable)(?:\s*=\s*|\s+)(\S+)/.exec(text)
  return editable?.[1] === undefined ? undefined : readAddress(editable[1])
}

/** `git+https://…`, `https://…/x.whl`, `./x.whl`, `name @ address`. */
const readAddress = (text: string): Requirement | undefined => {
  const named = /^([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*@\s*(\S+)/.exec(text)
  if (named?.[1] !== undefined && named[2] !== undefined)
    return { ...NOTHING, name: normalise(named[1]), address: named[2] }
  const isAddress = /^(?:(?:git|hg|svn|bzr)\+|https?:\/\/|file:)/i.test(text)
  const isPath =
    /^[./~]|^[A-Za-z]:[\\/]|[/\\]/.test(text) || /\.(?:whl|zip|tar\.gz|tgz)$/i.test(text)
  if (!isAddress && !isPath) return undefined
  const [address = ''] = text.split(/\s/)
  return { ...NOTHING, name: nameOfFile(address), address }
}

/** The project of a wheel or an sdist by its file name, or of `#egg=`. */
const nameOfFile = (address: string): string | undefined => {
  const egg = /[#&]egg=([\w.-]+)/.exec(address)?.[1]
  const file = address.split(/[?#]/)[0]?.split(/[/\\]/).at(-1) ?? ''
  const isFile = /\.(?:whl|zip|tar\.gz|tgz)$/i.test(file)
  const name = egg ?? (isFile ? /^(.+?)-\d/.exec(file)?.[1] : undefined)
  return name ? normalise(name) : undefined
}

const readNamed = (text: string): Requirement | undefined => {
  const [requirement = ''] = text.split(';')
  const match =
    /^([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)\s*(?:\[[^\]]*\])?\s*\(?\s*((?:[=!<>~]=?=?[^()]*)?)\)?$/.exec(
      requirement.trim(),
    )
  return match?.[1] === undefined
    ? undefined
    : { ...NOTHING, name: normalise(match[1]), specifier: (match[2] ?? '').trim() }
}
