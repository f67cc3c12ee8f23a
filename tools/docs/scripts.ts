import { makePage, makeTable } from './markdown.ts'

/** What each script of package.json does. */
const SCRIPTS: Record<string, string> = {
  start:
    'runs the whole service on this machine until Ctrl-C: api on port 8080, Temporal UI on 8233, data in `.data/`',
  demo: 'runs the whole service on free ports, sends one job of every kind, shows where the results are, stops; `-- --keep` leaves it running. With KILN_URL and KILN_TOKEN it sends the jobs to that service',
  test: 'runs `npm run check`, and beside it the tests, and ends with what it ran and what each part took; `-- <path or part of one>…` runs only the test files that match, `-- --long <path>` their long forms, with more work and other seeds',
  'test:all':
    'runs the test files that `npm test` leaves out, named `*.all.test.ts`: more seeds, other looks of the pages, the other half of the kills; continuous integration runs both',
  check: 'checks types, lint, format and unused code',
  'test:system':
    'tries the whole with other servers or machines, some ten minutes each: the parts are below',
  migrate: 'applies the migrations that the database lacks, and prepares Temporal',
  build:
    'compiles what production needs into `dist/`, bundles the workflows, and makes the package of the client in `dist/client`',
  bench: 'measures Kiln beside a baseline: `-- <name>…`, or all benchmarks',
  format: 'formats all files',
  docs: 'writes what is made of the documentation; `-- <file>` first stores the figures in the output of a benchmark; `-- --pictures` takes the pictures of the console anew',
  kiln: 'runs the command-line tool: `-- relight photo.png -o out.png`. docs/command-line.md has the commands of callers, docs/operations.md those of `-- operate`; `-- extract`, `-- receiver` and `-- token --user <name>` are for a checkout, too',
}

/** What `npm run test:system -- <part>` tries: each part is a folder of test/, and `faults` that of the nemesis. */
const PARTS: Record<string, string> = {
  compose:
    'builds the image and starts `docker-compose.yml` on an engine for containers, which it brings along on Debian: `faults` kills, cuts off and restarts its parts, `volumes` takes it down with and without them, `upgrade` comes from the last release, `machines` makes three of it',
  upgrade:
    'upgrades a running service from the last release under load, and tries the migrations on a million tasks: `rolling`, `locks`',
  machines:
    '`pgbouncer` puts a pooler before PostgreSQL, `failover` has a standby take over, `hosts` kills and cuts off three hosts, `restore` restores a backup taken under load',
  s3: 'runs Kiln with its files in a bucket: `store` behind a bad network, `faults`, `demo`, `http`, or test files; `node tools/run.mjs tools/s3-server.ts` builds its server first',
  vendor:
    'runs one Kiln whose tasks a second one renders: `demo`, `http`, `kills`, `changes`, `storm --tasks 1000 --seed 1`',
  contract:
    'checks `/openapi.json` against a running service: `lint`, `clients`, `schemathesis`; needs Python 3.11 and the package registries',
  faults:
    'makes tasks, publications and events while processes are killed, stopped and cut off from each other, and judges what callers were answered, receivers were told and rows say: `--seed 1,2 --tasks 1000 --only postgres --replay <plan.json>`',
  node: 'runs the tests of HTTP, workflows and engines, then the demo, on the newest releases of other majors of Node: `24 26`',
}

/** The page of the npm scripts. Throws when one is not told of, or told of and gone. */
export const makeScriptsPage = (packageJson: string): string => {
  const { scripts } = JSON.parse(packageJson) as { scripts: Record<string, string> }
  const names = Object.keys(scripts)
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
    'Each installs the packages first, when they are missing or older than the lock file.',
    makeTable(
      ['command', 'does'],
      names.map((name) => [`\`${nameOf(name)}\``, SCRIPTS[name] ?? '']),
    ),
    'The parts of `npm run test:system -- <part>`, with what they take:',
    makeTable(
      ['part', 'tries'],
      Object.entries(PARTS).map(([name, does]) => [`\`${name}\``, does]),
    ),
  ])
}
