import { parseArgs } from 'node:util'
import { adviseOn } from './advice.ts'
import { readInput } from './command/read-input.ts'
import { makePythonParser } from './python/parse.ts'
import type { ExtractedNode, Inspection, ScannedFinding } from './inspection.ts'
import { counted } from './words.ts'

const USAGE = `usage: kiln extract <zip or folder>… [--json]
       kiln-inspect <zip or folder>… [--json]

Reads packs as the service does after their publication, without running anything of them, and prints which host nodes would be
registered and what the security scan finds. With --json one JSON object a line for each argument.

Exit codes: 0 all could be read, whatever was found, 1 one could not, 2 wrong usage.
`

const run = async (argv: string[]): Promise<number> => {
  const parsed = readArguments(argv)
  if (parsed?.help) {
    process.stdout.write(USAGE)
    return 0
  }
  if (!parsed || parsed.inputs.length === 0) {
    process.stderr.write(USAGE)
    return 2
  }
  const parser = await makePythonParser()
  let exitCode = 0
  for (const input of parsed.inputs)
    try {
      const write = parsed.json ? toJsonLine : toTable
      process.stdout.write(write(input, await readInput(input, parser)))
    } catch (error) {
      exitCode = 1
      const { message, code } = error as NodeJS.ErrnoException
      if (parsed.json) process.stdout.write(toJsonError(input, code))
      process.stderr.write(`${input} could not be read: ${message}\n`)
    }
  return exitCode
}

const readArguments = (argv: string[]) => {
  const options = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const
  try {
    const { values, positionals } = parseArgs({ args: argv, options, allowPositionals: true })
    return { ...values, inputs: positionals }
  } catch {
    return undefined
  }
}

/** Writes one line of JSON: what would be registered, and what was found. */
const toJsonLine = (input: string, { archive, nodes, findings }: Inspection): string => {
  const { status, reason, how, partial, reasons, hints, stats } = nodes
  return `${JSON.stringify({
    input,
    verdict: archive.verdict,
    code: archive.verdict === 'rejected' ? archive.code : null,
    status,
    reason,
    how,
    partial,
    reasons,
    hints,
    advice: adviseOn(nodes),
    nodes: Object.fromEntries(nodes.nodes.map(({ name, ...fields }) => [name, fields])),
    findings: findings.findings,
    scanned: findings.complete,
    stats,
  })}\n`
}

/** Writes the line of an input that could not be read at all; `code` is the system's, such as `ENOENT`. */
const toJsonError = (input: string, code: string | null = null): string =>
  `${JSON.stringify({ input, verdict: 'unreadable', code, ...UNREADABLE, ...NOTHING })}\n`

const UNREADABLE = { status: 'failed', reason: 'unreadable', how: 'none', partial: false }
const NOTHING = { reasons: ['unreadable'], nodes: {}, findings: [], stats: {} }

/** Writes for a person what was found. */
const toTable = (input: string, { archive, nodes, findings }: Inspection): string =>
  [
    input,
    archive.verdict === 'sound'
      ? `  archive   sound, ${counted(archive.entries, 'file')}`
      : `  archive   REJECTED, ${archive.code}: ${archive.message}`,
    `  nodes     ${describeNodes(nodes)}`,
    ...adviseOn(nodes).map((line) => `            ${line}`),
    ...showNodes(nodes.nodes),
    `  findings  ${describeCounts(findings)}`,
    ...findings.findings.filter(isShown).flatMap(showFinding),
    '',
  ].join('\n')

const isShown = ({ severity, issue_type: rule }: ScannedFinding): boolean =>
  severity !== 'info' || rule === 'broken-example'

const describeNodes = ({ status, reason, how, partial, reasons, nodes }: Inspection['nodes']) => {
  const found = counted(nodes.length, 'host node') + (how === 'none' ? '' : ` (${how})`)
  if (status === 'failed') return ['FAILED', ...new Set([reason, ...reasons])].join(', ')
  return partial ? `${found}; some may be missing: ${reasons.join(', ')}` : found
}

const showNodes = (nodes: readonly ExtractedNode[]): string[] => {
  const width = Math.min(40, Math.max(0, ...nodes.map(({ name }) => name.length)))
  return nodes.map((node) => {
    const marks = [
      node.deprecated && 'deprecated',
      node.experimental && 'experimental',
      node.output_node && 'output node',
    ]
    const rest = [node.category, `→ ${outputsOf(node)}`, ...marks.filter((mark) => mark !== false)]
    const fields = node.dynamic.filter((field) => field !== 'host_node_name')
    const unknown = [
      fields.length < node.dynamic.length && '(only under a condition)',
      fields.length > 0 && `(depends on the machine: ${fields.join(', ')})`,
    ].filter((record) => record !== false)
    return `    ${node.name.padEnd(width)}  ${[...rest, ...unknown].join('  ')}`
  })
}

const outputsOf = ({ return_types }: ExtractedNode): string => {
  const types: unknown = JSON.parse(return_types)
  if (!Array.isArray(types)) return String(types)
  return types.map((type: unknown) => (typeof type === 'string' ? type : 'COMBO')).join(', ')
}

const describeCounts = ({ counts: { high, medium, info }, complete }: Inspection['findings']) => {
  const verdict = high > 0 ? 'the version would be FLAGGED' : 'nothing that flags the version'
  const counted = `${high} high, ${medium} medium, ${info} info: ${verdict}`
  return complete ? counted : `${counted}; NOT SCANNED TO THE END`
}

const showFinding = (finding: ScannedFinding): string[] => {
  const { severity, issue_type, file_path, line_number, message, code_snippet } = finding
  const place = [file_path, line_number].filter((part) => part !== undefined).join(':')
  return [
    `    ${severity.toUpperCase()} ${issue_type}  ${place}`,
    `      ${message}`,
    ...(code_snippet === undefined ? [] : [`      > ${code_snippet}`]),
  ]
}

// At the end: a module has the constants above only once it has come to them.
process.exitCode = await run(process.argv.slice(2))
