/**
 * Counts what one must know before one changes the service, in this checkout and in those of other commits, by the same rules:
 * `node tools/run.mjs tools/measure.ts [folder of a checkout…]`. Rules that name declarations go by them wherever they lie.
 */
import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'

import * as ast from 'typescript/unstable/ast'

import { ROOT } from '../src/local/root.ts'
import { openCheckout, type Checkout, type Declared } from './measure/checkout.ts'

interface Row {
  name: string
  /** The count before the redesign of the task core, as it had been made by hand, and its aim. */
  aim: string
  rule: string
  count(checkout: Checkout): number | string
}

const CODE = ['src', 'workflows', 'activities']
/** With three calls the rule gives of the commit before what a reader had counted by hand: 56 for 52. */
const CALLS = 3
/** Steps that no other step calls: a route, a workflow, its activities. `completeImageTask` is gone from later commits. */
const RELIGHT =
  /^(makeImageCreationRoutes|imageTask|makeRenderImageTask|completeImageTask|startFirstAttempts)$/
const BATCH =
  /^(makeBatchRoutes|makeBulkWork|runBatch|makeBulkActivities|makePrepareBulk|makeBulkTransitions)$/

const countPath = ({ find, reach }: Checkout, steps: RegExp, without?: RegExp): string => {
  // Variables of some files are called as workflows are.
  const list = (names: RegExp | undefined) =>
    (names ? find(names) : []).filter(({ file }) => !/^src\/\w+\.ts$/.test(file))
  const count = (calls?: number): number => {
    const known = new Set(reach(list(without), calls).map(({ file }) => file))
    const files = new Set(reach(list(steps), calls).map(({ file }) => file))
    return [...files].filter((file) => !known.has(file)).length
  }
  return `${count(CALLS)} (with calls however deep ${count()})`
}

const countNaming = ({ texts }: Checkout, name: RegExp): number =>
  texts(...CODE, 'packages').filter((text) => name.test(text)).length

const listOf = (found: readonly string[]): string => `${found.length} (${found.join(', ')})`

const listDeclared = (found: readonly Declared[]): string =>
  listOf(found.map(({ file, name }) => `${name} of ${file}`))

/** Each by a declaration that is there where the place is. */
const WAITS: Record<string, RegExp> = {
  'queue of Temporal': /^renderOptions$/,
  'placement at a ComfyUI': /^FLEET$/,
  'slot with signal and poll': /^admitted$/,
  'attempt that fails and asks again': /^waitHeld$/,
  row: /^makeAdmissionPass$/,
}

/** Words that only one vocabulary has. */
const VOCABULARIES: Record<string, readonly string[]> = {
  images: ['CREATED', 'IN_PROGRESS', 'COMPLETED'],
  videos: ['queueing', 'success'],
  batches: ['preparing'],
  TaskState: ['waiting', 'queued'],
}
/** Rows, families, words of the wire and of aliases, programs that are clients, the registry and what reads Temporal's words, which are others. */
const BELOW =
  /^src\/(db|domain|alias|adapters|local|operate|jobs\/client|http\/(image-task|video-task|registry)|tasks\/(\w+-response|http\/(image|video))|\w+\/(db|domain|adapters)|platform\/(alias|temporal\/client)|registry|engines)\b/

const countVocabularies = ({ sources }: Checkout): string => {
  const spelt = [...sources].flatMap(([file, { tree }]) =>
    BELOW.test(file) ? [] : [new Set(findAll(tree, ast.isStringLiteral).map(({ text }) => text))],
  )
  const files = Object.entries(VOCABULARIES).map(([name, words]) => ({
    name,
    count: spelt.filter((texts) => words.some((word) => texts.has(word))).length,
  }))
  return listOf(files.flatMap(({ name, count }) => (count > 0 ? `${name} in ${count} files` : [])))
}

const findAll = <Found extends ast.Node>(
  root: ast.Node,
  is: (node: ast.Node) => node is Found,
): Found[] => {
  const found: Found[] = []
  const visit = (node: ast.Node): void => {
    if (is(node)) found.push(node)
    node.forEachChild(visit)
  }
  visit(root)
  return found
}

const STATEMENT = /^sql(?:<[^`]*>)?`\s*(select|with|insert|update|delete)\b/

const countStatements = ({ find, reach }: Checkout): string => {
  const claims = find(/^claim(Image|Video)?Task$/)
  const sent = claims.map((claim) =>
    reach([claim])
      .flatMap(({ node }) => findAll(node, ast.isTaggedTemplateExpression))
      .filter((template) => STATEMENT.test(template.getText())),
  )
  return `${sent.map(({ length }) => length).join(', ')} (${claims.map(({ name }) => name).join(', ')})`
}

const ROWS: Row[] = [
  {
    name: 'lines',
    aim: '74.5k → 71.5k',
    rule: 'all lines of src, workflows, activities and packages/engines/src',
    count: ({ root, texts }) =>
      texts(...[...CODE, 'packages/engines/src'].filter((folder) => existsSync(join(root, folder))))
        .map((text) => text.split('\n').length - 1)
        .reduce((sum, lines) => sum + lines, 0),
  },
  {
    name: 'files to open: relight to webhook',
    aim: '52 → 35',
    rule: `files with functions within ${CALLS} calls of ${RELIGHT.source}`,
    count: (checkout) => countPath(checkout, RELIGHT),
  },
  {
    name: 'files to open: batch',
    aim: '29 → 15',
    rule: `the same of ${BATCH.source}, without those of a relight`,
    count: (checkout) => countPath(checkout, BATCH, RELIGHT),
  },
  {
    name: 'files to open: a new member of a task',
    aim: '60 → 30',
    rule: 'files of these folders and of packages that name `labels`, which every task has',
    count: (checkout) => countNaming(checkout, /\b(kiln_)?labels\b/i),
  },
  {
    name: 'files to open: an image kind',
    aim: '12 → 8',
    rule: 'files of these folders and of packages that name `upscale_precision` in any spelling',
    count: (checkout) => countNaming(checkout, /upscale_?precision/i),
  },
  {
    name: 'places a task can wait',
    aim: '5 → 3',
    rule: `places whose declaration there is: ${Object.values(WAITS).join(' ')}`,
    count: ({ find }) =>
      listOf(Object.keys(WAITS).filter((place) => find(WAITS[place] ?? /^$/).length > 0)),
  },
  {
    name: 'vocabularies of state above the rows',
    aim: '4 → 1',
    rule: `vocabularies with a word of their own that is a text in files other than ${BELOW.source}`,
    count: countVocabularies,
  },
  {
    name: 'cancels',
    aim: '3 → 1',
    rule: 'functions that are called cancel(Image|Video)Task or cancelLocked',
    count: ({ find }) => listDeclared(find(/^cancel((Image|Video)?Task|Locked)$/)),
  },
  {
    name: 'creations',
    aim: '3 → 1',
    rule: 'functions that are called create(Image|Video)?Task, and a STAND_IN that is an object, for a request',
    count: ({ find }) =>
      listDeclared(
        find(/^(create(Image|Video)?Task|STAND_IN)$/).filter(
          ({ node }) => !ast.isStringLiteral(node),
        ),
      ),
  },
  {
    name: 'files of http that a worker loads',
    aim: '68 → 0',
    rule: 'files of http that imports lead to from src/worker.ts, those of types apart',
    count: ({ loadedWith }) =>
      loadedWith('src/worker.ts').filter((file) => /^src\/(\w+\/)?http\//.test(file)).length,
  },
  {
    name: 'types of workflow',
    aim: '14 → 12',
    rule: 'exports of workflows/index.ts',
    count: ({ sources }) => sources.get('workflows/index.ts')?.imported.size ?? 0,
  },
  {
    name: 'statements of one claim',
    aim: '4 → 2',
    rule: 'statements of SQL in functions that a claim reaches, whichever way it goes: one sends fewer',
    count: countStatements,
  },
  {
    name: 'round trips: create, video’s enqueueing, claim, video’s end',
    aim: '3, 7, 4, 8 → 3, 0, 3, 5',
    rule: 'counted before the database by `npm run bench -- task-cost`: no source says which statements are sent together',
    count: () => 'bench task-cost',
  },
]

const checkouts = [...process.argv.slice(2), ROOT].map(openCheckout)
const counted = ROWS.map((row) => ({
  ...row,
  counts: checkouts.map((checkout) => String(row.count(checkout))),
}))
const show = (cells: readonly string[]): void => {
  process.stdout.write(`${cells.map((cell) => cell.padEnd(22)).join(' ')}\n`)
}
show([...checkouts.map(({ root }) => basename(root)), 'aim, by hand'])
// What is counted one by one stands below.
for (const { name, aim, counts } of counted)
  show([...counts.map((count) => count.replace(/ \(.*/, '')), aim, name])
for (const { name, rule, counts } of counted)
  process.stdout.write(`\n${name}: ${rule}\n${counts.map((count) => `  ${count}\n`).join('')}`)
