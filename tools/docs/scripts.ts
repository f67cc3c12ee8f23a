import { makePage, makeTable } from './markdown.ts'

/** What each script of package.json does. Scripts named `pre…` run by themselves before theirs. */
const SCRIPTS: Record<string, string> = {
  start:
    'runs the whole service on this machine until Ctrl-C: api on port 8080, Temporal UI on 8233, data in `.data/`',
  demo: 'runs the whole service on free ports, sends one job of every kind, shows where the results are, stops; `-- --keep` leaves it running. With KILN_URL and KILN_TOKEN it sends the jobs to that service',
  test: 'runs `npm run check`, and beside it the tests, and ends with what it ran and what each part took; `-- <path or part of one>…` runs only the test files that match, `-- --long <path>` their long forms, with more work and other seeds',
  'test:all':
    'runs the test files that `npm test` leaves out, named `*.all.test.ts`: more seeds, other looks of the pages, the other half of the kills; continuous integration runs both',
  check: 'checks types, lint, format and unused code',
  'test:faults':
    'makes tasks, publications and events while processes are killed, stopped and cut off from each other, and judges what callers were answered, receivers were told and rows say: `-- --seed 1,2 --tasks 1000 --only postgres --replay <plan.json>`',
  'test:contract':
    'checks `/openapi.json` against a running service: linters, clients generated from it, and schemathesis with all checks; needs Python 3.11 and the package registries',
  'test:compose':
    'builds the image and starts `docker-compose.yml` on an engine for containers, which it brings along on Debian: `-- faults` kills, cuts off and restarts its parts, `-- volumes` takes it down with and without them, `-- upgrade` comes from the last release, `-- machines` makes three of it; some ten minutes each',
  'test:machines':
    'tries what one machine does not show: `-- pgbouncer` a pooler before PostgreSQL, `-- failover` a standby that takes over, `-- hosts` three hosts that are killed and cut off, `-- restore` a backup taken under load; three to ten minutes each',
  'test:upgrade':
    'upgrades a running service from the last release under load, and tries the migrations on a million tasks; `-- rolling` and `-- locks` are its two parts, some ten minutes each',
  'test:vendor':
    'runs one Kiln whose tasks a second one renders: the demo, tests of the interface, a kill at each line, and a storm of kills on both sides: `-- demo http kills changes storm --tasks 1000 --seed 1`',
  'test:s3':
    'runs Kiln with its files in a bucket: the store behind a bad network, the demo, the tests of the interface: `-- store faults demo http`, or test files; `node tools/run.mjs tools/s3-server.ts` builds its server first',
  'test:node':
    'runs the tests of HTTP, workflows and engines, then the demo, on the newest releases of other majors of Node: `-- 24 26`',
  token: 'prints a bearer token of the embedded stack for a user: `-- alice`',
  migrate: 'applies the migrations that the database lacks, and prepares Temporal',
  build:
    'compiles what production needs into `dist/`, bundles the workflows, and makes the package of the client in `dist/client`',
  bench: 'measures Kiln beside a baseline: `-- <name>…`, or all benchmarks',
  format: 'formats all files',
  docs: 'writes what is made of the documentation; `-- <file>` first stores the figures in the output of a benchmark; `-- --pictures` takes the pictures of the console anew',
  receiver:
    'starts a receiver of webhooks that prints each event: `-- --secret <whsec_…> --port 9099 --status 500 --delay 5`',
  operate: 'runs one command of an operator: `-- stuck`; docs/operations.md lists them',
  kiln: 'runs the command-line tool from the checkout: `-- relight photo.png -o out.png`; docs/command-line.md has its commands',
}

/** The page of the npm scripts. Throws when one is not told of, or told of and gone. */
export const makeScriptsPage = (packageJson: string): string => {
  const { scripts } = JSON.parse(packageJson) as { scripts: Record<string, string> }
  const names = Object.keys(scripts).filter((name) => !isHook(name, scripts))
  const told = Object.keys(SCRIPTS)
  const differing = [...names, ...told].filter(
    (name) => !(names.includes(name) && told.includes(name)),
  )
  if (differing.length > 0)
    throw new Error(
      `tools/docs/scripts.ts and package.json differ in ${differing.join(', ')}: give each script a line there`,
    )
  const nameOf = (name: string): string =>
    name === 'start' || name === 'test' ? `npm ${name}` : `npm run ${name}`
  return makePage('Scripts', '`package.json` and `tools/docs/scripts.ts`', [
    'Those that need the packages install them first, when they are missing or older than the lock file.',
    makeTable(
      ['command', 'does'],
      names.map((name) => [`\`${nameOf(name)}\``, SCRIPTS[name] ?? '']),
    ),
  ])
}

const isHook = (name: string, scripts: Record<string, string>): boolean =>
  name.startsWith('pre') && name.slice('pre'.length) in scripts
