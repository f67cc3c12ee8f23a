import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { ROOT } from '../../src/local/root.ts'

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** The instructions of a Dockerfile, in order, with continued lines joined. */
const listInstructions = (text: string): { name: string; rest: string }[] =>
  text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .map((line) => /^([A-Z]+) (.*)$/.exec(line))
    .flatMap((match) => (match ? [{ name: match[1] ?? '', rest: match[2] ?? '' }] : []))

const instructions = listInstructions(read('Dockerfile'))
const lastStage = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'))
const restOf = (wanted: string): string[] =>
  lastStage.filter(({ name }) => name === wanted).map(({ rest }) => rest)

describe('the image', () => {
  test('is made on Node 24', () => {
    const bases = instructions.filter(({ name }) => name === 'FROM').map(({ rest }) => rest)
    assert.match(bases[0] ?? '', /^node:24-[\w-]*slim AS base$/)
    for (const base of bases.slice(1)) assert.match(base, /^base AS \w+$/)
  })

  test('installs from the lock file, and for production without development packages', () => {
    const installs = instructions.map(({ rest }) => rest).filter((rest) => /\bnpm ci\b/.test(rest))
    assert.equal(installs.length, 2)
    assert.match(installs[1] ?? '', /--omit=dev/)
  })

  test('runs as a user without rights, and is ended by SIGTERM', () => {
    assert.deepEqual(restOf('USER'), ['node'])
    assert.deepEqual(restOf('STOPSIGNAL'), ['SIGTERM'])
    const after = lastStage.slice(lastStage.findIndex(({ name }) => name === 'USER') + 1)
    assert.ok(after.every(({ name }) => !['RUN', 'COPY'].includes(name)))
  })

  test('runs the api in production, and checks its health', () => {
    assert.deepEqual(restOf('CMD'), ['["node", "dist/src/api.js"]'])
    assert.match(restOf('HEALTHCHECK').join(''), /\/health/)
    assert.match(restOf('ENV').join(' '), /NODE_ENV=production/)
  })

  test('has the tables that WIRE_ALIASES may name', () => {
    assert.ok(existsSync(join(ROOT, 'deploy/aliases/host-clients.json')))
    assert.ok(restOf('COPY').includes('deploy/aliases deploy/aliases'))
  })

  test('copies only what is there and what .dockerignore lets through', () => {
    const allowed = [...read('.dockerignore').matchAll(/^!(.*)$/gm)].map(([, path]) => `${path}/`)
    for (const { name, rest } of instructions) {
      if (name !== 'COPY' || rest.startsWith('--from')) continue
      for (const source of rest.split(' ').slice(0, -1)) {
        const isAllowed = allowed.some((path) => `${source}/`.startsWith(path))
        assert.ok(existsSync(join(ROOT, source)) && isAllowed, source)
      }
    }
  })
})

describe('package.json', () => {
  test('has as dependencies exactly what production imports', () => {
    const files = listFiles('src', 'workflows', 'activities')
    assert.deepEqual(Object.keys(dependenciesOf('package.json')).toSorted(), listImported(files))
  })

  for (const folder of ['packages/engines', 'packages/inspector'])
    test(`of ${folder} has exactly what it imports`, () => {
      const names = Object.keys(dependenciesOf(`${folder}/package.json`)).toSorted()
      assert.deepEqual(names, listImported(listFiles(`${folder}/src`)))
    })

  test('pins every one of them', () => {
    for (const file of [
      'package.json',
      'packages/engines/package.json',
      'packages/inspector/package.json',
    ])
      for (const [name, version] of Object.entries(dependenciesOf(file)))
        assert.match(version, /^\d+\.\d+\.\d+/, name)
  })
})

const listFiles = (...folders: string[]): string[] =>
  folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .map((file) => join(folder, file))
      .filter((file) => file.endsWith('.ts') && !/^src\/local\b/.test(file)),
  )

const dependenciesOf = (file: string): Record<string, string> =>
  (JSON.parse(read(file)) as { dependencies: Record<string, string> }).dependencies

/** The packages that some files import, each once, in the order of their names. */
const listImported = (files: readonly string[]): string[] =>
  [...new Set(files.flatMap((file) => listPackages(read(file))))].toSorted()

/** Packages that a file imports values or types from, at once or later, or resolves a file of: `@scope/name` or `name`. */
const listPackages = (text: string): string[] =>
  [IMPORTED, RESOLVED]
    .flatMap((form) => [...text.matchAll(form)])
    .map(([, name = '']) => name)
    .filter((name) => !name.startsWith('node:'))

const IMPORTED = /^(?:import|export) [^'"]*? from '(@[^/']+\/[^/']+|[^./@'][^/']*)/gms
const RESOLVED = /(?:\.resolve|\bimport)\(\s*'((?:@[^/']+\/)?[^./@'][^/']*)/g
