/** Runs `npm run test:system -- upgrade`: `-- locks` and `-- rolling` choose one of its two parts. */
import { OperatorError } from '../../src/platform/process/operator-error.ts'
import { testMigrations } from './locks.ts'
import { findRelease, prepareRelease } from './release.ts'
import { testUpgrade } from './rolling.ts'

const PARTS = { locks: testMigrations, rolling: testUpgrade }

const say = (line: string): void => void process.stdout.write(`${line}\n`)

const main = async (chosen: readonly string[]): Promise<void> => {
  const release = await prepareRelease(await findRelease(), say)
  for (const [name, run] of Object.entries(PARTS))
    if (chosen.length === 0 || chosen.includes(name))
      if (!(await run(release, say))) process.exitCode = 1
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  if (!(error instanceof OperatorError)) throw error
  say(error.message)
  process.exitCode = 1
})
