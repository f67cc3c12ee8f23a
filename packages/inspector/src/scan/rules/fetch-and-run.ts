/**
 * True when a shell's command line fetches a file and runs that file, or pipes what it fetches into an interpreter.
 * Installers that projects document to be used in this way are left out.
 */
export const fetchesAndRuns = (line: string): boolean => {
  const fetched: string[] = []
  for (const segment of line.slice(0, MAX_LINE).split(/&&|\|\||[;\n]/)) {
    if (isPipedFetch(segment) || fetched.some((name) => runs(segment, name))) return true
    fetched.push(...outputsOf(segment))
  }
  return false
}

const MAX_LINE = 8192

const isPipedFetch = (segment: string): boolean => {
  const stages = segment.split('|')
  return stages.some(
    (stage, at) =>
      /\b(?:curl|wget)\b/.test(stage) &&
      /https?:\/\//.test(stage) &&
      !KNOWN_INSTALLERS.test(stage) &&
      INTERPRETER.test(stages[at + 1] ?? ''),
  )
}

const INTERPRETER = /^\s*(?:sudo\s+)?(?:\S*\/)?(?:(?:ba|z|da)?sh|python[\d.]*|perl)\b/

const KNOWN_INSTALLERS =
  /https?:\/\/(?:astral\.sh\/uv|ollama\.(?:com|ai)\/install|sh\.rustup\.rs|get\.docker\.com|deb\.nodesource\.com|raw\.githubusercontent\.com\/(?:Homebrew|nvm-sh|pyenv)\/|install\.python-poetry\.org|bootstrap\.pypa\.io|get\.pnpm\.io|bun\.sh)/i

/** Names of the files that a segment downloads. */
const outputsOf = (segment: string): string[] => {
  if (!/\b(?:curl|wget|aria2c)\b/.test(segment)) return []
  const output = /\s(?:-o|-O|--output|--output-document)[\s=]+["']?([^\s"']+)/.exec(segment)?.[1]
  const address = /https?:\/\/[^\s"']+/.exec(segment)?.[0].replace(/[?#].*$/, '')
  return [output, address?.split('/').slice(3).at(-1)].flatMap((path) => {
    const name = path?.split('/').at(-1)
    return name !== undefined && name.length > 2 ? [name] : []
  })
}

const runs = (segment: string, name: string): boolean => {
  const words = segment
    .trim()
    .split(/\s+/)
    .map((word) => word.replaceAll(/["']/g, ''))
  const at = words.findIndex(
    (word) => !/^(?:sudo|nohup|start|(?:\S*\/)?(?:ba|z|da)?sh|python[\d.]*|&|-[a-z]+)$/.test(word),
  )
  return words[at]?.split('/').at(-1) === name
}
