/** What `npm run test:system -- upgrade` runs: `-- locks` and `-- rolling` choose one of its two parts. */
import { tryMigrations } from './locks.ts'
import { prepareRelease } from './release.ts'
import { tryUpgrade } from './rolling.ts'

const PARTS = { locks: tryMigrations, rolling: tryUpgrade }

const say = (line: string): void => void process.stdout.write(`${line}\n`)

const release = await prepareRelease(process.env['RELEASE'] ?? 'v0.1.0', say)
const chosen = process.argv.slice(2)
for (const [name, run] of Object.entries(PARTS))
  if (chosen.length === 0 || chosen.includes(name))
    if (!(await run(release, say))) process.exitCode = 1
