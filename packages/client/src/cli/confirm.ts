import { createInterface } from 'node:readline'

import type { Context } from './context.ts'
import { UsageError } from './error.ts'

/** A deletion in words, and what a person types who means it. */
type Deletion = { what: string; word: string }

/** Asks on a terminal before a deletion, unless the command says --yes. Throws unless it is meant. */
export const confirmDeletion = async (
  { values, screen, signal }: Pick<Context, 'values' | 'screen' | 'signal'>,
  describe: () => Deletion | Promise<Deletion>,
  { stdin, stderr }: Pick<NodeJS.Process, 'stdin' | 'stderr'> = process,
): Promise<void> => {
  if (values['yes'] === true) return
  if (!stdin.isTTY) throw new UsageError('a deletion cannot be undone: say --yes to delete')
  const { what, word } = await describe()
  screen.close()
  stderr.write(`${what} will be deleted, which cannot be undone. Type ${word} to go on: `)
  let given: string | undefined
  // Ctrl-C stays a signal of the process; the end of the input confirms nothing.
  for await (const line of createInterface({ input: stdin, terminal: false, signal })) {
    given = line.trim()
    break
  }
  signal.throwIfAborted()
  if (given !== word) throw new UsageError(`nothing was deleted: ${word} was not typed`)
}
