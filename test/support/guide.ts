import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

import { path as FFMPEG } from '@ffmpeg-installer/ffmpeg'
import { transform } from 'esbuild'

import { codePath, ROOT } from '../../src/local/root.ts'
import { PYTHON_CLIENT } from '../../tools/build-python.ts'
import { PATIENCE_MS } from './patience.ts'

export interface Block {
  /** First word behind the fence: sh, json, text, ts, js or python. */
  language: string
  /**
   * The words behind it, such as `background`, or the name of a file in Python. The blocks of TypeScript and Python without
   * one are parts of one program each.
   */
  words: string
  code: string
  /** Line of the document. */
  line: number
}

/** The fenced blocks of a document. */
export const listBlocks = (text: string): Block[] =>
  [...text.matchAll(/^```(\w*) ?(.*)\n([^]*?)^```$/gm)].map((match) => ({
    language: match[1] ?? '',
    words: match[2] ?? '',
    code: match[3] ?? '',
    line: text.slice(0, match.index).split('\n').length,
  }))

/** The address that documents name a service by, and the ports of what a reader starts: receivers and engines. */
const EXAMPLE = 'http://127.0.0.1:8080'
export const PORTS = ['9099', '5001', '5002', '5003', '8188']

/** Those that take their place. */
export interface Addresses {
  baseUrl: string
  ports: Readonly<Record<string, string>>
  /** Whose credentials the reader has. */
  user: string
  /** A Python that has what the Python client needs. */
  python?: string | undefined
}

/** Commands and packages of the checkout, and its ffmpeg, work from any folder, and token and key are of a user of the service that is tried. */
const PRELUDE = (baseUrl: string): string => `
export PYTHONPATH='${join(ROOT, 'packages/engine-python/src')}:${join(PYTHON_CLIENT, 'src')}' PYTHONDONTWRITEBYTECODE=1
export PATH="$PATH:${dirname(FFMPEG)}"
npm() {
  case "$*" in
    *"token --user "*) curl -s "${baseUrl}/development/tokens" --json "{\\"user\\": \\"\${*: -1}\\"}" | node -p 'JSON.parse(fs.readFileSync(0)).token' ;;
    *) command npm --prefix '${ROOT}' "$@" ;;
  esac
}
node() {
  case "\${1-}" in
    tools/*) (cd '${ROOT}' && exec node "$@") ;;
    *) command node "$@" ;;
  esac
}
# With pipefail a curl whose reader has left fails; the streams end by themselves.
head() {
  command head "$@"
  cat > /dev/null
}
`

/** Credentials of a development user, as a reader has some. */
const CREDENTIALS = ({ baseUrl, user }: Addresses): string => `
made() { node -p "JSON.parse(fs.readFileSync(0)).$1"; }
export KILN_TOKEN=$(curl -s "${baseUrl}/development/tokens" --json '{"user": "${user}"}' | made token)
export KILN_API_KEY=$(curl -s "${baseUrl}/users/api-keys" -H "Authorization: Bearer $KILN_TOKEN" --json '{"name": "guide"}' | made key)
`

/**
 * Runs the blocks of a document in one shell, in order, against a service. Returns what each printed, by its index.
 * Throws with the output of the shell when a command fails.
 */
export const runBlocks = async (
  blocks: readonly Block[],
  addresses: Addresses,
): Promise<Map<number, string>> => {
  const { baseUrl } = addresses
  const folder = await mkdtemp(join(tmpdir(), 'kiln-guide-'))
  try {
    await symlink(join(ROOT, 'samples'), join(folder, 'samples'))
    const parts: string[] = []
    const outputs = new Map<number, string>()
    for (const [index, block] of blocks.entries()) {
      const part = await makePart({ ...addresses, folder, index }, block)
      if (part === undefined) continue
      parts.push(`echo "line ${block.line}" >&2\n${part}`)
      if (block.language === 'sh') outputs.set(index, join(folder, `out.${index}`))
    }
    parts.push(...(await makePrograms(blocks, { ...addresses, folder })))
    const script = `set -euo pipefail\n${PRELUDE(baseUrl)}\n${CREDENTIALS(addresses)}\ntrap 'for job in $(jobs -p); do kill -- "-$job"; done' EXIT\n${parts.join('\n')}`
    await writeFile(join(folder, 'guide.sh'), script)
    await promisify(execFile)('bash', ['guide.sh'], { cwd: folder, timeout: 3 * PATIENCE_MS })
    for (const [index, path] of outputs) outputs.set(index, await readFile(path, 'utf8'))
    return outputs
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const pointTo = ({ baseUrl, ports }: Addresses, text: string): string =>
  text.replaceAll(/\b\d{4}\b/g, (port) => ports[port] ?? port).replaceAll(EXAMPLE, baseUrl)

/** Makes the shell commands of a block; undefined where there is nothing to do. */
const makePart = async (
  { folder, index, ...addresses }: Addresses & { folder: string; index: number },
  { language, words, code: shown }: Block,
): Promise<string | undefined> => {
  const code = pointTo(addresses, shown)
  if (language === 'python' && words !== '')
    return `cat > '${words}' <<'END_OF_FILE'\n${code}END_OF_FILE`
  if (language !== 'sh') return undefined
  if (words !== 'background') return `{\n${code}\n} > out.${index}`
  const script = `set -euo pipefail\n${PRELUDE(addresses.baseUrl)}\n${code}`
  await writeFile(join(folder, `block-${index}.sh`), script)
  return `set -m\nbash block-${index}.sh > out.${index} 2>&1 &\nset +m\nuntil [ -s out.${index} ]; do sleep 0.1; done`
}

/** The client that a guide imports, in the checkout. */
const LIBRARY = pathToFileURL(codePath('packages/client/src/index.ts')).href

/** Makes the commands that run what a document shows in TypeScript and in Python, each as one program behind its commands. */
const makePrograms = async (
  blocks: readonly Block[],
  { folder, python, ...addresses }: Addresses & { folder: string },
): Promise<string[]> => {
  const programOf = (wanted: string): string =>
    blocks
      .filter(({ language, words }) => language === wanted && words === '')
      .map(({ code }) => pointTo(addresses, code))
      .join('\n')
  const commands: string[] = []
  const script = programOf('ts').replaceAll("'kiln-client'", `'${LIBRARY}'`)
  if (script !== '') {
    const { code } = await transform(script, { loader: 'ts', format: 'esm' })
    await writeFile(join(folder, 'program.mjs'), code)
    commands.push('echo "its TypeScript" >&2\nnode program.mjs > out.ts')
  }
  const program = programOf('python')
  if (program !== '' && python !== undefined) {
    await writeFile(join(folder, 'program.py'), program)
    commands.push(`echo "its Python" >&2\n'${python}' program.py > out.py`)
  }
  return commands
}

/**
 * Finds the difference between what was printed and what the document shows; undefined when there is none. `…` stands for
 * anything, as a member for all others.
 */
export const findDifference = (
  shown: Block,
  printed: string,
  addresses: Addresses,
): string | undefined => {
  const code = pointTo(addresses, shown.code)
  const fits = (pattern: string, text: string): boolean => {
    const parts = pattern.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').split('…')
    return new RegExp(`^${parts.join('[^]*')}$`).test(text)
  }
  if (shown.language === 'json')
    return findJsonDifference(JSON.parse(code), JSON.parse(printed), fits)
  const lines = printed.trimEnd().split('\n')
  const expected = code.trimEnd().split('\n')
  const missing =
    shown.words === 'background'
      ? expected.find((pattern) => !lines.some((line) => fits(pattern, line)))
      : expected.find((pattern, at) => !fits(pattern, lines[at] ?? ''))
  return missing === undefined ? undefined : `no line ${missing} in\n${printed}`
}

const findJsonDifference = (
  shown: unknown,
  printed: unknown,
  fits: (pattern: string, text: string) => boolean,
  at = '',
): string | undefined => {
  if (typeof shown === 'object' && shown !== null) {
    const members = Object.entries(shown).filter(([name]) => name !== '…')
    const names = Object.keys(Object(printed) as object)
    const extra = '…' in shown ? undefined : names.find((name) => !(name in shown))
    if (extra !== undefined) return `${at}/${extra} is not shown`
    const given = Object(printed) as Record<string, unknown>
    return members
      .map(([name, value]) => findJsonDifference(value, given[name], fits, `${at}/${name}`))
      .find((difference) => difference !== undefined)
  }
  const same = typeof shown === 'string' ? fits(shown, String(printed)) : shown === printed
  return same ? undefined : `${at} is ${JSON.stringify(printed)}, shown as ${JSON.stringify(shown)}`
}
