import { parseArgs } from 'node:util'

import { readInput } from './command/read-input.ts'
import { toJsonError, toJsonLine, toTable } from './command/show.ts'
import { makePythonParser } from './python/parse.ts'

const USAGE = `usage: kiln-inspect <zip or folder>… [--json]

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
      const found = await readInput(input, parser)
      const write = parsed.json ? toJsonLine : toTable
      process.stdout.write(write(input, found))
    } catch (error) {
      exitCode = 1
      const { message, code }: NodeJS.ErrnoException =
        error instanceof Error ? error : new Error(String(error))
      if (parsed.json) process.stdout.write(toJsonError(input, code))
      process.stderr.write(`${input} could not be read: ${message}\n`)
    }
  return exitCode
}

const readArguments = (argv: string[]) => {
  const options = {
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  } as const
  try {
    const { values, positionals } = parseArgs({ args: argv, options, allowPositionals: true })
    return { ...values, inputs: positionals }
  } catch {
    return undefined
  }
}

process.exitCode = await run(process.argv.slice(2))
