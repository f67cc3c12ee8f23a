import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { ROOT } from '../../src/local/root.ts'
import { makeFolder } from '../support/folder.ts'
import { waitFor } from '../support/wait.ts'

interface LockEntry {
  optionalDependencies?: Record<string, string>
}

test('the lock file names the packages of every platform, as npm ci wants (else run tools/complete-lock.mjs)', async () => {
  const text = await readFile(join(ROOT, 'package-lock.json'), 'utf8')
  const { packages } = JSON.parse(text) as { packages: Record<string, LockEntry> }
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) =>
        !(`node_modules/${name}` in packages) && !(`${path}/node_modules/${name}` in packages),
    ),
  )
  assert.deepEqual(missing, [])
})

test('every script that needs the packages installs them first', async () => {
  const text = await readFile(join(ROOT, 'package.json'), 'utf8')
  const { scripts } = JSON.parse(text) as { scripts: Record<string, string> }
  const installs = /^node (--[\w=-]+ )*tools\/(run|kiln|install)\.mjs /
  const bare = Object.keys(scripts).filter((name) => !installs.test(`${scripts[name]} `))
  assert.deepEqual(bare, [])
})

/** In the place of npm: says when it begins, and ends when there is a file `go`. */
const NPM = `
  const fs = require('node:fs')
  fs.appendFileSync('npm.log', 'begins ')
  const end = () => fs.existsSync('go') ? fs.appendFileSync('npm.log', 'ends ') : setTimeout(end, 20)
  end()
`

test('two commands at once install one after the other, also when the first was killed', async (t) => {
  const root = await makeFolder(t, { 'npm.cjs': NPM })
  for (const part of ['tools', 'package-lock.json'])
    await cp(join(ROOT, part), join(root, part), { recursive: true })
  const install = () => {
    const child = spawn(process.execPath, ['tools/install.mjs'], {
      cwd: root,
      env: { PATH: process.env['PATH'], npm_execpath: join(root, 'npm.cjs') },
    })
    let said = ''
    child.stderr.on('data', (data: Buffer) => (said += data.toString()))
    return { child, ended: once(child, 'exit'), said: () => said }
  }
  const readLog = () => readFile(join(root, 'npm.log'), 'utf8').catch(() => '')
  const killed = install()
  await waitFor('it installs', async () => (await readLog()) === 'begins ')
  killed.child.kill('SIGKILL')
  await killed.ended
  await writeFile(join(root, 'go'), '')
  await waitFor('its npm has ended, too', async () => (await readLog()) === 'begins ends ')
  await rm(join(root, 'go'))
  await rm(join(root, 'npm.log'))
  const first = install()
  await waitFor('it installs', async () => (await readLog()).startsWith('begins '))
  const second = install()
  await waitFor('the second waits', async () =>
    second.said().includes(`waiting for process ${first.child.pid}, which installs`),
  )
  await writeFile(join(root, 'go'), '')
  // There are no packages for the check that follows.
  for (const { ended } of [first, second]) assert.deepEqual(await ended, [1, null])
  assert.match(await readLog(), /^(begins ends )+$/)
})
