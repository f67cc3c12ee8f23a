/**
 * Runs `npm run test:system -- <part> [argument…]`: tests of the whole that need minutes, other servers or other
 * machines. Each part says at the top of its `run.ts` which arguments it takes.
 */
const PARTS: Record<string, () => Promise<unknown>> = {
  compose: () => import('./compose/run.ts'),
  upgrade: () => import('./upgrade/run.ts'),
  machines: () => import('./machines/run.ts'),
  s3: () => import('./s3/run.ts'),
  vendor: () => import('./vendor/run.ts'),
  comfyui: () => import('./comfyui/run.ts'),
  contract: () => import('./contract/run.ts'),
  faults: () => import('./nemesis/run.ts'),
  node: () => import('./node/run.ts'),
  drills: () => import('./drills/run.ts'),
}

const [program = '', path = '', name = '', ...rest] = process.argv
const run = Object.hasOwn(PARTS, name) ? PARTS[name] : undefined
if (run) {
  // A part reads its arguments as if it were started by itself.
  process.argv = [program, path, ...rest]
  await run()
} else {
  const [out, code] = ['', '--help'].includes(name)
    ? (['stdout', 0] as const)
    : (['stderr', 2] as const)
  const issue = code === 0 ? '' : `kiln: there is no part ${name}\n`
  process[out].write(`${issue}usage: npm run test:system -- ${Object.keys(PARTS).join('|')} […]\n`)
  process.exitCode = code
}
